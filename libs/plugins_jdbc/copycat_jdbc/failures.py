"""What a failed call of a database means: the server is away, or what was asked cannot work."""

from __future__ import annotations

import socket

from copycat_connect.errors import ConnectError, DataError, RetriableError
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from copycat_jdbc.address import Address
from copycat_jdbc.errors import NoConnectionFree, NotAllowed, Refused, WrongSetting

#: Classes of SQLSTATE that pass: connections, no resources, operator's actions, rolled back, in use.
_PASSING_CLASSES = frozenset({"08", "53", "57", "40", "55", "58"})
#: Numbers of MySQL's errors that pass: too many connections, shutting down, locks, deadlocks, no connection.
_PASSING_NUMBERS = frozenset({1040, 1053, 1205, 1213, 2002, 2003, 2006, 2013, 2055})
#: SQLite: busy, locked.
_PASSING_FILES = frozenset({5, 6})
#: SQLSTATE and numbers of errors: the login may not; names and statements are wrong; a row is refused.
_NOT_ALLOWED = frozenset({"42501", "0L000", "0P000", "25006", 1044, 1142, 1143, 1227, 1290, 1370})
_WRONG = frozenset({1046, 1049, 1052, 1054, 1064, 1109, 1136, 1146, 1305, 1318, 1347, 1348, 1442, 1471})
_OF_ROWS = frozenset(
    {
        1048,
        1062,
        1216,
        1217,
        1264,
        1265,
        1292,
        1364,
        1365,
        1366,
        1406,
        1411,
        1451,
        1452,
        1690,
        3140,
        3819,
        4025,
    }
)
#: Likewise of classes of SQLSTATE, and of SQLite.
_WRONG_CLASSES = frozenset({"42", "3D", "3F", "0A", "2F", "26"})
_CLASSES_OF_ROWS = frozenset({"22", "23", "44"})
_SQLITE_NOT_ALLOWED, _SQLITE_WRONG, _SQLITE_OF_ROWS = {3, 8, 23}, {1, 17}, {18, 19, 20, 25}
_PROBE_SECONDS = 2.0
#: What PostgreSQL and MySQL say when they have no connection left; at a login there is no code to read.
_NONE_FREE = ("too many clients", "too many connections", "connection slots are reserved")


def failed(error: SQLAlchemyError, doing: str, address: Address, secret: str | None) -> ConnectError:
    """Return the error to raise for a failed call.

    Args:
        error: What SQLAlchemy raised.
        doing: What was tried, e.g. `read table orders`.
        address: Where.
        secret: The password, which the text must not show.
    """
    message = f"Cannot {doing} at {address}: {reason(error, secret)}"
    if _passes(error):
        return RetriableError(message)
    return _class_of(error)(message)


def not_connected(error: SQLAlchemyError, address: Address, secret: str | None) -> ConnectError:
    """Return the error to raise where no connection can be made; see `errors` where a server is there."""
    if address.hosts and not any(_listens(*host) for host in address.hosts):
        return RetriableError(
            f"No server answers at {address}; is it up, and is connection.url right? {reason(error, secret)}"
        )
    said = reason(error, secret)
    if any(words in said.lower() for words in _NONE_FREE):
        return NoConnectionFree(f"{address} has no connection left: {said}")
    return Refused(
        f"{address} refuses the connection; look at connection.url, connection.user and connection.password: "
        f"{said}"
    )


def reason(error: SQLAlchemyError, secret: str | None) -> str:
    """Return what the driver says, on one line, without statement, parameters and password."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    text = " ".join(str(cause).split())
    return text.replace(secret, "[hidden]") if secret else text


def _class_of(error: SQLAlchemyError) -> type[ConnectError]:
    """Return what a call means that failed for good: by its code, never by its text."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    state, lite = getattr(cause, "sqlstate", None), getattr(cause, "sqlite_errorcode", None)
    number = cause.args[0] if cause is not None and cause.args else None
    if isinstance(lite, int):
        code = lite & 0xFF
        found = (code in _SQLITE_NOT_ALLOWED, code in _SQLITE_WRONG, code in _SQLITE_OF_ROWS)
    elif isinstance(state, str):
        found = (state in _NOT_ALLOWED, state[:2] in _WRONG_CLASSES, state[:2] in _CLASSES_OF_ROWS)
    else:
        found = (number in _NOT_ALLOWED, number in _WRONG, number in _OF_ROWS)
    classes = (NotAllowed, WrongSetting, DataError)
    return next((each for each, is_it in zip(classes, found, strict=True) if is_it), ConnectError)


def _passes(error: SQLAlchemyError) -> bool:
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    cause = error.orig
    state = getattr(cause, "sqlstate", None)
    if isinstance(state, str):
        return state[:2] in _PASSING_CLASSES
    code = getattr(cause, "sqlite_errorcode", None)
    if isinstance(code, int):
        return code & 0xFF in _PASSING_FILES
    number = cause.args[0] if cause is not None and cause.args else None
    return isinstance(number, int) and number in _PASSING_NUMBERS


def _listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), _PROBE_SECONDS).close()
    except OSError:
        return False
    return True
