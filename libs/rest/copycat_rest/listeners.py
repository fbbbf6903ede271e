"""Listeners: `scheme://host:port`, as Kafka Connect writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from copycat_connect.cluster import REST_PORT
from copycat_connect.config import LIST, LOW, ConfigKey
from copycat_connect.config.validators import non_empty_list
from copycat_connect.errors import ConfigError

HTTP: Final = "http"
HTTPS: Final = "https"
SCHEMES: Final = (HTTP, HTTPS)
LISTENERS: Final = ConfigKey(
    "listeners",
    LIST,
    LOW,
    default=(f"http://127.0.0.1:{REST_PORT}",),
    validator=non_empty_list,
    doc="Where the REST interface listens: http://host:port or https://host:port, side by side where there"
    " are several; the host may be empty for every address.",
)
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
    scheme: str = HTTP
    """http or https."""

    def __str__(self) -> str:
        """Return the listener as it is written in the settings."""
        return f"{self.scheme}://{bracketed(self.host)}:{self.port}"


def parse_listener(key: str, text: str) -> Listener:
    """Read one listener.

    Raises:
        ConfigError: It is neither `http://host:port` nor `https://host:port`.
    """
    match = LISTENER.fullmatch(text.strip())
    if match is None or int(match["port"]) > 65535:
        raise ConfigError(
            f"{key} has '{text}', which is no listener: write http://host:port, e.g. http://127.0.0.1:8083",
            key=key,
        )
    scheme = match["scheme"].lower()
    if scheme not in SCHEMES:
        raise ConfigError(
            f"{key} has '{text}' with the scheme '{scheme}': only http://host:port and https://host:port"
            " are known",
            key=key,
        )
    return Listener(key, match["v6"] or match["host"] or "", int(match["port"]), scheme)


def nearest(listeners: Sequence[Listener]) -> Listener:
    """Return the listener Kafka Connect prefers: the first with http, without one the first with https."""
    return next((listener for listener in listeners if listener.scheme == HTTP), listeners[0])


def bracketed(host: str) -> str:
    """Return a host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host
