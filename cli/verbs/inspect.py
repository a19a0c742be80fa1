"""`inspect`: what is in a file, and what would be detected."""

NAME = "inspect"
SUMMARY = "list rigs, bones, actions and look-ats, and what would be detected"


def add_arguments(parser):
    pass


def run(options, console):
    return 0
