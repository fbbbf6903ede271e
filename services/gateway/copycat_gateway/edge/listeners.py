"""Listeners: `http://host:port`, as Kafka Connect writes them, and their sockets."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from copycat_connect.errors import ConfigError

LISTENER: Final = re.compile(
    r"(?P<scheme>[a-zA-Z]+)://(?:\[(?P<v6>[0-9a-fA-F:.%]+)\]|(?P<host>[^\[\]:/]*)):(?P<port>[0-9]{1,5})"
)


@dataclass(frozen=True, slots=True)
class Listener:
    """One address to listen on."""

    key: str
    """The setting it comes from, named by errors."""
    host: str
    """Host name or address; empty for every address."""
    port: int
    """Port; 0 for any free one."""

    def __str__(self) -> str:
        """Return the listener as it is written in the settings."""
        return f"http://{bracketed(self.host)}:{self.port}"


def parse_listener(key: str, text: str) -> Listener:
    """Read one listener.

    Raises:
        ConfigError: It is not `http://host:port`.
    """
    match = LISTENER.fullmatch(text.strip())
    if match is None or int(match["port"]) > 65535:
        raise ConfigError(
            f"{key} has '{text}', which is no listener: write http://host:port, e.g. http://127.0.0.1:8083",
            key=key,
        )
    scheme = match["scheme"].lower()
    if scheme == "https":
        raise ConfigError(
            f"{key} has '{text}', but TLS is not supported: write http://host:port behind a TLS proxy",
            key=key,
        )
    if scheme != "http":
        raise ConfigError(
            f"{key} has '{text}' with the scheme '{scheme}': only http://host:port is known", key=key
        )
    return Listener(key, match["v6"] or match["host"] or "", int(match["port"]))


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


def bracketed(host: str) -> str:
    """Return a host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


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
