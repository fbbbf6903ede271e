"""BasicAuthSecurityRestExtension as the gateway finds it."""

from __future__ import annotations

import base64
import binascii
import hmac
import logging
import re
from collections.abc import Mapping
from typing import NamedTuple

from copycat_connect.config import HIGH
from copycat_connect.config.properties import parse_properties
from copycat_connect.config.setting import Password
from copycat_connect.config.settings import Settings, key
from copycat_connect.errors import ConfigError
from copycat_connect.files import read_named_file
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import (
    Caller,
    PluginKind,
    PluginSpec,
    RestAnswer,
    RestExtension,
    RestExtensionContext,
    RestRequest,
)

_CLASS_NAME = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"

_FILE = "rest.basic.auth.file"

_SUMMARY = (
    "Lets only those use the REST interface who have a name and a password (HTTP basic authentication)."
)
_GUARANTEES = (
    "Every request is checked but the internal ones of Connect's workers (POST /connectors/{name}/tasks and "
    "PUT /connectors/{name}/fence), which ask for a signature. A refusal is 401 with the text `User cannot "
    "access the resource.` and, unless tokens are accepted too, no WWW-Authenticate header. The file is "
    "read at the start; an empty one lets everybody in. Passwords travel unhidden: listen on loopback, or "
    "behind TLS."
)
_EXAMPLES = {
    "Worker properties": {"rest.extension.classes": _CLASS_NAME, _FILE: "/etc/copycat/users.properties"},
}


class BasicAuthSettings(Settings):
    """Where the users are."""

    file: str | None = key(
        HIGH,
        name=_FILE,
        default=None,
        doc=(
            "Properties file with one `user=password` a line; required. In Kafka Connect the JAAS file names "
            'it, as option `file="..."` of `PropertyFileLoginModule` in the entry `KafkaConnect`.'
        ),
    )


class _Credentials(NamedTuple):
    """Who somebody says to be."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.name!r}, [hidden])"


def _credentials(header: str | None) -> _Credentials | None:
    """Return what a header of the scheme `Basic` says; nothing where it is absent or malformed."""
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    name, colon, password = text.partition(":")
    return _Credentials(name, password) if name and colon else None


_SHAPE = "a properties file with one user=password a line"


class Users:
    """The users of a file; without any, everybody is one."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = {name: Password(password) for name, password in passwords.items()}

    @property
    def are_all(self) -> bool:
        """True where nobody is named, which lets everybody in."""
        return not self._passwords

    def has(self, name: str, password: str) -> bool:
        """Return whether this is a user's password; it takes as long whether it nearly is or not at all."""
        known = self._passwords.get(name)
        expected = known.value if known is not None else ""
        return hmac.compare_digest(_bytes(expected), _bytes(password)) and known is not None


def _read_users(file: str | None) -> Users:
    """Read the file.

    Raises:
        ConfigError: None is named, or it cannot be read; the message shows nothing of its content.
    """
    if not file:
        raise ConfigError(
            f"{_FILE} is missing: set it to the path of {_SHAPE}. It is the file that the option file= of"
            " PropertyFileLoginModule names in a JAAS file of Kafka Connect",
            key=_FILE,
        )
    try:
        return Users(parse_properties(read_named_file(file).decode("utf-8")))
    except OSError as error:
        raise ConfigError(
            f"{_FILE} names {file}, which cannot be read ({error.strerror}): make it {_SHAPE}",
            key=_FILE,
        ) from error
    except (ConfigError, UnicodeDecodeError):
        raise ConfigError(
            f"{_FILE} names {file}, which has a broken escape or is not UTF-8: make it {_SHAPE}, and write a"
            r" backslash as \\",
            key=_FILE,
        ) from None  # the cause would quote a line, and so a password


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


log = logging.getLogger(__name__)

#: Requests of workers to each other, which are signed with a key of theirs.
_INTERNAL = (
    ("POST", re.compile(r"/connectors/[^/]+/tasks")),
    ("PUT", re.compile(r"/connectors/[^/]+/fence")),
)
_SCHEME = "Basic"
_REFUSAL = RestAnswer(401, "User cannot access the resource.", "text/plain")


class BasicAuthSecurityRestExtension(RestExtension):
    """Refuses whoever is not named in the file."""

    def configure(self, configs: Mapping[str, str]) -> None:
        """Read users and passwords from the file, where one is named."""
        file = BasicAuthSettings.parse(configs).file
        self._users = _read_users(file)
        if self._users.are_all:
            log.warning("%s names nobody in %s: everybody may use the REST interface", _FILE, file)

    def register(self, context: RestExtensionContext) -> None:
        """Say who calls by a known name and password, and refuse all others."""
        context.add_authenticator(_SCHEME, lambda request: _caller_of(self._users, request))


def _caller_of(users: Users, request: RestRequest) -> Caller | RestAnswer | None:
    """Return who sent a request, or its refusal; nothing where anybody may pass."""
    if users.are_all or _is_internal(request):
        return None
    given = _credentials(request.headers.get("authorization"))
    return Caller(given.name) if given is not None and users.has(*given) else _REFUSAL


def _is_internal(request: RestRequest) -> bool:
    return any(request.method == method and path.fullmatch(request.path) for method, path in _INTERNAL)


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.REST_EXTENSION,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=BasicAuthSettings.config_def(),
    factory=BasicAuthSecurityRestExtension,
    guarantees=_GUARANTEES,
    examples=_EXAMPLES,
)
