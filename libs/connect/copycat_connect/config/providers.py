"""Config providers: where `${provider:path:key}` gets its value, in the processes that run plugins."""

from __future__ import annotations

import logging
import os.path
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from copycat_connect.config.properties import parse_properties
from copycat_connect.config.provider import ConfigProvider
from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.errors import ConfigError
from copycat_connect.files import MAX_NAMED_FILE_BYTES, NamedFileError, read_named_file

_log = logging.getLogger(__name__)
_ALLOWLIST = "allowlist.pattern"
_PACKAGE = "org.apache.kafka.common.config.provider."


class AllowedPaths:
    """The folders and files a provider may read; everything when none are named."""

    def __init__(self, text: str | None) -> None:
        """Allow these comma-separated paths.

        Raises:
            ConfigError: One of them is not absolute or does not exist.
        """
        self._roots = [_allowed_root(each) for each in text.split(",")] if text else None

    def admitted(self, path: str) -> str | None:
        """Return what to read for a path, all links followed; None where that lies in none of them.

        Links among the allowed paths are followed each time, since they may be turned while we run.
        """
        if self._roots is None:
            return path
        try:
            real = Path(os.path.realpath(path))
        except ValueError:  # a name that no file can have
            return None
        inside = any(real.is_relative_to(os.path.realpath(root)) for root in self._roots)
        return str(real) if inside else None


def _allowed_root(text: str) -> Path:
    if not Path(text).is_absolute():
        raise ConfigError(f"Path {text} is not absolute")
    if not Path(text).exists():
        raise ConfigError(f"Path {text} does not exist")
    return Path(os.path.normpath(text))


class FileConfigProvider(ConfigProvider):
    """Reads a properties file."""

    def __init__(self, params: Mapping[str, str], environment: Mapping[str, str]) -> None:
        del environment
        self._allowed = AllowedPaths(params.get("allowed.paths"))

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        """Return the values of the keys in the file."""
        if not path:
            return {}
        admitted = self._allowed.admitted(path)
        if admitted is None:
            _log.warning("The path %s is not allowed to be accessed", path)
            return {}
        properties = parse_properties(_text(admitted, f"Could not read properties from file {path}"))
        return {key: properties[key] for key in keys if key in properties}


class DirectoryConfigProvider(ConfigProvider):
    """Reads a folder of files: the key is a file's name, the value all it holds, line ends too."""

    def __init__(self, params: Mapping[str, str], environment: Mapping[str, str]) -> None:
        del environment
        self._allowed = AllowedPaths(params.get("allowed.paths"))

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        """Return the contents of the files named by the keys."""
        if not path:
            return {}
        folder = self._allowed.admitted(path)
        if folder is None:
            _log.warning("The path %s is not allowed to be accessed", path)
            return {}
        if not Path(folder).is_dir():
            _log.warning("The path %s is not a directory", path)
            return {}
        found: dict[str, str] = {}
        left = MAX_NAMED_FILE_BYTES
        for key in keys:
            file = self._direct_file(folder, key)
            if file is not None:
                found[key] = _text(file, f"Could not read file {Path(path, key)} for property {key}", left)
                left -= len(found[key])
        return found

    def _direct_file(self, folder: str, key: str) -> str | None:
        """Return the file of a key; None where it does not exist, or a link leads out of what is allowed."""
        if Path(key).name != key or not Path(folder, key).is_file():
            return None
        file = self._allowed.admitted(f"{folder}/{key}")
        if file is None:
            _log.warning("The path %s/%s is not allowed to be accessed: its link leads out", folder, key)
        return file


def _text(file: str, failure: str, limit: int = MAX_NAMED_FILE_BYTES) -> str:
    try:
        return read_named_file(file, limit).decode("utf-8")
    except NamedFileError as error:
        raise ConfigError(f"{failure}: {error.strerror}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(failure) from error


class EnvVarConfigProvider(ConfigProvider):
    """Reads environment variables as they were when the process started."""

    def __init__(self, params: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._variables = dict(environment)
        if _ALLOWLIST in params:
            try:
                allowed = compile_user_pattern(_ALLOWLIST, params[_ALLOWLIST])
            except re.error as error:
                raise ConfigError(
                    f"{_ALLOWLIST} of EnvVarConfigProvider is no regular expression: {error}", key=_ALLOWLIST
                ) from error
            self._variables = {name: value for name, value in environment.items() if allowed.fullmatch(name)}

    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        """Return the values of the variables."""
        if path:
            raise ConfigError(f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'")
        return {key: self._variables[key] for key in keys if key in self._variables}


def _vault(params: Mapping[str, str], environment: Mapping[str, str]) -> ConfigProvider:
    from copycat_connect.config.vault import VaultConfigProvider  # noqa: PLC0415 - 30 ms, for HTTP and TLS

    return VaultConfigProvider(params, environment)


_PROVIDERS: Mapping[str, Callable[[Mapping[str, str], Mapping[str, str]], ConfigProvider]] = {
    "FileConfigProvider": FileConfigProvider,
    "DirectoryConfigProvider": DirectoryConfigProvider,
    "EnvVarConfigProvider": EnvVarConfigProvider,
    "VaultConfigProvider": _vault,
}


def make_provider(
    name: str, class_name: str, params: Mapping[str, str], environment: Mapping[str, str]
) -> ConfigProvider:
    """Make a provider.

    Args:
        name: The alias it is configured under.
        class_name: Its class name or alias.
        params: Its parameters.
        environment: The environment variables.

    Raises:
        ConfigError: There is no such class, or a parameter is wrong.
    """
    simple = class_name.removeprefix(_PACKAGE)
    make = _PROVIDERS.get(simple) or _PROVIDERS.get(f"{simple}ConfigProvider")
    if make is None:
        message = f"Invalid value {class_name} for configuration config.providers.{name}.class: Class "
        raise ConfigError(f"{message}{class_name} could not be found.")
    return make(params, environment)
