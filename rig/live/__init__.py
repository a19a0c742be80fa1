"""The former place of the live loop: scripts import `handlers` from here."""
