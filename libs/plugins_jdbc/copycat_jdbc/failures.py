"""What a failed call of a database means: the server is away, or what was asked cannot work."""

from __future__ import annotations

import socket

from copycat_connect.errors import ConnectError, RetriableError
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from copycat_jdbc.address import Address
from copycat_jdbc.errors import NoConnectionFree, Refused

#: Classes of SQLSTATE that pass: connections, no resources, operator's actions, rolled back, in use.
_PASSING_CLASSES = frozenset({"08", "53", "57", "40", "55", "58"})
#: Numbers of MySQL's errors that pass: too many connections, shutting down, locks, deadlocks, no connection.
_PASSING_NUMBERS = frozenset({1040, 1053, 1205, 1213, 2002, 2003, 2006, 2013, 2055})
#: SQLite: busy, locked.
_PASSING_FILES = frozenset({5, 6})
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
    return RetriableError(message) if _passes(error) else ConnectError(message)


def not_connected(error: SQLAlchemyError, address: Address, secret: str | None) -> ConnectError:
    """Return the error to raise where no connection can be made; see `errors` where a server is there."""
    if address.hosts and not any(_listens(*host) for host in address.hosts):
        return RetriableError(
            f"No server answers at {address}; is it up, and is connection.url right? "
            f"It is tried again. {reason(error, secret)}"
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
