"""Who may use the REST interface: names and passwords from a properties file."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from copycat_connect.config.password import Password
from copycat_connect.config.properties import parse_properties
from copycat_connect.errors import ConfigError
from copycat_connect.named_files import read_named_file

from copycat_plugins.rest_extensions.basic_auth.spec import FILE

SHAPE = "a properties file with one user=password a line"


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


def read_users(file: str | None) -> Users:
    """Read the file.

    Raises:
        ConfigError: None is named, or it cannot be read; the message shows nothing of its content.
    """
    if not file:
        raise ConfigError(
            f"{FILE} is missing: set it to the path of {SHAPE}. It is the file that the option file= of"
            " PropertyFileLoginModule names in a JAAS file of Kafka Connect",
            key=FILE,
        )
    try:
        return Users(parse_properties(read_named_file(file).decode("utf-8")))
    except OSError as error:
        raise ConfigError(
            f"{FILE} names {file}, which cannot be read ({error.strerror}): make it {SHAPE}",
            key=FILE,
        ) from error
    except (ConfigError, UnicodeDecodeError):
        raise ConfigError(
            f"{FILE} names {file}, which has a broken escape or is not UTF-8: make it {SHAPE}, and write a"
            r" backslash as \\",
            key=FILE,
        ) from None  # the cause would quote a line, and so a password


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
