"""How a database refuses, and what that means for whoever is to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.errors import ConnectError
from copycat_connect.failure_kind import FailureKind


class Refused(ConnectError):
    """A server answers and lets nobody in: wrong user, password or database."""


class NoConnectionFree(Refused):
    """A server answers and has no connection left."""


class NotAllowed(ConnectError):
    """The login may not do what is asked for."""


class WrongSetting(ConnectError):
    """A setting does not go with what is in the database; the text names its key."""


#: For `PluginSpec.failures`; the first that fits counts.
FAILURES: Final[Mapping[type[BaseException], FailureKind]] = {
    NoConnectionFree: FailureKind.RESOURCE,
    Refused: FailureKind.AUTHORISATION,
    NotAllowed: FailureKind.AUTHORISATION,
    WrongSetting: FailureKind.CONFIGURATION,
}
