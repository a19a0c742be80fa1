"""The former name of `layers.live`, which scripts import to bring look-ats up to date and to ask how they are doing."""

from ..layers.live import finish, status, stop, touch, update

__all__ = ["finish", "status", "stop", "touch", "update"]
