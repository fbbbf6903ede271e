"""The sockets of listeners."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence

from copycat_connect.errors import ConfigError
from copycat_rest.listeners import Listener, bracketed


def bind(listener: Listener) -> socket.socket:
    """Return a bound socket.

    Raises:
        ConfigError: The address is taken or not of this machine.
    """
    try:
        return _bound(listener.host, listener.port)
    except OSError as error:
        raise ConfigError(
            f"Cannot listen on {listener} ({error.strerror}): stop what uses it, or set {listener.key} to"
            " a free address such as http://127.0.0.1:18083",
            key=listener.key,
        ) from error


def bind_all(listeners: Iterable[Listener]) -> Sequence[socket.socket]:
    """Return a socket for each listener, all or none."""
    bound: list[socket.socket] = []
    try:
        for listener in listeners:
            bound.append(bind(listener))
    except ConfigError:
        for opened in bound:
            opened.close()
        raise
    return bound


def address(bound: socket.socket) -> str:
    """Return `host:port` of a bound socket."""
    host, port = bound.getsockname()[:2]
    return f"{bracketed(host)}:{port}"


def _bound(host: str, port: int) -> socket.socket:
    """Bind a host, or every address of both families.

    The protocol is named, since asyncio turns Nagle's delay (40 ms an answer) off only where it says TCP.
    """
    everywhere = not host and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if everywhere else _family(host, port)
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if everywhere:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind((host, port))
        made.listen()  # a port bound by two is refused only here
    except OSError:
        made.close()
        raise
    return made


def _family(host: str, port: int) -> int:
    return socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)[0][0]  # noqa: S104 - asked for
