"""The URL of the REST interface: for this machine, and as others get it."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import Final

from copycat_connect.cluster import is_wildcard
from copycat_connect.config import INT, LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.config.validators import between
from copycat_connect.errors import ConfigError

from copycat_rest.listeners import LISTENERS, SCHEMES, Listener, bracketed, nearest, parse_listener

HOST: Final = "rest.advertised.host.name"
PORT: Final = "rest.advertised.port"
LISTENER: Final = "rest.advertised.listener"


def _port(name: str, value: int | None) -> None:
    if value is not None:
        between(0, 65535)(name, value)


def _scheme(name: str, value: str | None) -> None:
    if value is not None and value.lower() not in SCHEMES:
        raise ConfigError(f"{name} has '{value}': write http or https, the scheme others are told", key=name)


ADVERTISED: Final = (
    ConfigKey(
        HOST, STRING, LOW, default=None, doc="Host in the URL others are told; the listener's if not set."
    ),
    ConfigKey(
        PORT, INT, LOW, default=None, validator=_port, doc="Port in that URL; the listener's if not set."
    ),
    ConfigKey(
        LISTENER,
        STRING,
        LOW,
        default=None,
        validator=_scheme,
        doc="Scheme of that URL: http or https; http where a listener has it if not set.",
    ),
)
_KEYS: Final = ConfigDef(LISTENERS, *ADVERTISED)


def local_listener(properties: Mapping[str, str]) -> Listener:
    """Return the listener that this machine calls.

    Raises:
        ConfigError: A listener is malformed.
    """
    return nearest(_listeners(ConfigDef(LISTENERS).parse(properties)[LISTENERS.name]))


def local_url(properties: Mapping[str, str]) -> str:
    """Return where this machine reaches the interface.

    Raises:
        ConfigError: A listener is malformed.
    """
    listener = local_listener(properties)
    host = "127.0.0.1" if is_wildcard(listener.host) else listener.host
    return f"{listener.scheme}://{_address(host, listener.port)}"


def advertised_url(properties: Mapping[str, str], local: str = "") -> str:
    """Return the URL for others; unless a `rest.advertised.*` key says more, `local` or `local_url`.

    Raises:
        ConfigError: A listener is malformed, or a key is wrong.
    """
    parsed = _KEYS.parse(properties)
    if not any(parsed[key.name] for key in ADVERTISED):
        return local or local_url(properties)
    listeners = _listeners(parsed[LISTENERS.name])
    scheme = (parsed[LISTENER] or nearest(listeners).scheme).lower()
    # Behind a proxy that speaks TLS the scheme may be that of no listener.
    found = next((listener for listener in listeners if listener.scheme == scheme), nearest(listeners))
    own = socket.gethostname() if is_wildcard(found.host) else found.host
    return f"{scheme}://{_address(parsed[HOST] or own, parsed[PORT] or found.port)}"


def _listeners(texts: Sequence[str]) -> Sequence[Listener]:
    return [parse_listener(LISTENERS.name, text) for text in texts]


def _address(host: str, port: int) -> str:
    return f"{bracketed(host)}:{port}"
