"""Placeholders: `${provider:key}` and `${provider:path:key}` in configuration values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config.parsing import parse_type
from copycat_connect.config.provider import ConfigProvider
from copycat_connect.config.providers import make_provider
from copycat_connect.config.secrets import Secrets
from copycat_connect.config.setting import Type
from copycat_connect.errors import ConfigError

V = TypeVar("V", str, str | None)
#: Worker properties that are for plugins and their clients; `admin.listeners` is the gateway's.
_FOR_PLUGINS = ("producer.", "consumer.", "admin.", "key.converter", "value.converter", "header.converter")
MAX_RESOLVED_CHARACTERS: Final = 8 * 1024 * 1024
"""What the placeholders of a configuration stand for is no longer than this, all together."""
_TOO_LONG: Final = (
    f"is longer than {MAX_RESOLVED_CHARACTERS} characters: shorten it, or let the plugin read the file itself"
)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A placeholder in a text."""

    start: int
    """Where it begins in the text."""
    end: int
    """Where the text goes on behind it."""
    provider: str
    """The alias of the provider."""
    path: str
    """Where the provider looks; empty without one."""
    key: str
    """What it looks for."""


def find_placeholders(text: str | None) -> Iterator[Placeholder]:
    r"""Yield the placeholders of a text, from left to right, in one pass.

    They are what Kafka's pattern `\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}` finds, whose time grows by the third
    power of the text.
    """
    start = (text or "").find("${")
    while text and start >= 0:
        end = text.find("}", start)
        if end < 0:
            return
        provider, separator, rest = text[start + 2 : end].partition(":")
        if separator:
            path, separator, key = rest.partition(":")
            if not separator:
                path, key = "", path
            yield Placeholder(start, end + 1, provider, path, key)
        # Without a colon none begins before that brace: what begins later ends at the same one.
        start = text.find("${", end + 1)


def has_placeholder(value: str | None) -> bool:
    """Return whether a value holds something that looks like a placeholder."""
    return next(find_placeholders(value), None) is not None


def provider_of(value: str | None) -> str | None:
    """Return the name of the provider where the whole value is one placeholder, and None elsewhere."""
    first = next(find_placeholders(value), None)
    return first.provider if first and value and (first.start, first.end) == (0, len(value)) else None


@dataclass(frozen=True, slots=True)
class Resolution(Generic[V]):
    """A configuration without placeholders."""

    values: dict[str, V] = field(repr=False)
    """Every key with its value."""
    secrets: Secrets
    """What nobody may see."""
    ttl_ms: int | None = None
    """How long it counts, milliseconds; None for ever."""


class Placeholders:
    """Resolves placeholders with the worker's config providers.

    What no provider knows stays as it is written. Values are not searched again for further placeholders.
    """

    def __init__(self, providers: Mapping[str, ConfigProvider]) -> None:
        """Use these providers, by alias."""
        self._providers = dict(providers)

    @classmethod
    def from_worker(cls, properties: Mapping[str, str], environment: Mapping[str, str]) -> Placeholders:
        """Make the providers a worker's properties name.

        Args:
            properties: The worker's properties; `config.providers` and what stands under it.
            environment: The environment variables, for `EnvVarConfigProvider`.

        Raises:
            ConfigError: A provider is unknown or wrongly set up.
        """
        providers = {}
        for name in parse_type("config.providers", properties.get("config.providers", ""), Type.LIST):
            prefix = f"config.providers.{name}."
            params = {
                key.removeprefix(f"{prefix}param."): value
                for key, value in properties.items()
                if key.startswith(f"{prefix}param.")
            }
            class_name = properties.get(f"{prefix}class", "")
            providers[name] = make_provider(name, class_name, params, environment)
        return cls(providers)

    def resolve(self, config: Mapping[str, V]) -> dict[str, V]:
        """Return the configuration with every placeholder replaced that a provider knows.

        Raises:
            ConfigError: A provider failed.
        """
        return self.read(config).values

    def read(self, config: Mapping[str, V]) -> Resolution[V]:
        """Resolve a configuration and return its secrets: what providers gave, and values made with it.

        Raises:
            ConfigError: A provider failed, or what the placeholders stand for is too long.
        """
        found, ttl_ms = self._look_up(config.values())
        secrets: dict[str, str] = {}
        values: dict[str, V] = {}
        left = MAX_RESOLVED_CHARACTERS
        for key, written in config.items():
            if written is None or not has_placeholder(written):
                values[key] = written
                continue
            values[key] = resolved = _replaced(key, written, found, secrets, left)
            left -= len(resolved)
            if resolved not in ("", written):
                secrets[resolved] = written
        return Resolution(values, Secrets.of(secrets), ttl_ms)

    def resolve_own(self, worker: Mapping[str, str]) -> dict[str, str]:
        """Return a worker's properties with those resolved that its services use themselves.

        What is for plugins and their clients keeps its placeholders, for the process where the plugin runs.

        Raises:
            ConfigError: A provider failed.
        """
        own = {
            key: value
            for key, value in worker.items()
            if not key.startswith(_FOR_PLUGINS) or key.startswith("admin.listeners")
        }
        return {**worker, **self.resolve(own)}

    def _look_up(self, values: Iterable[str | None]) -> tuple[dict[tuple[str, str, str], str], int | None]:
        """Return what providers know of what is written, and how long that counts."""
        wanted: dict[tuple[str, str], dict[str, None]] = {}
        for value in values:
            for each in find_placeholders(value):
                wanted.setdefault((each.provider, each.path), {})[each.key] = None
        found = {}
        lives = []
        left = MAX_RESOLVED_CHARACTERS
        for (name, path), keys in wanted.items():
            provider = self._providers.get(name)
            if provider is not None:
                for key, value in provider.get(path, list(keys)).items():
                    found[name, path, key] = value
                    left -= len(value)
                    if left < 0:
                        raise ConfigError(f"What ${{{name}:{path}:{key}}} and others stand for {_TOO_LONG}")
                lives.append(provider.ttl_ms(path))
        return found, min((life for life in lives if life is not None), default=None)


def _replaced(
    key: str, written: str, found: Mapping[tuple[str, str, str], str], secrets: dict[str, str], limit: int
) -> str:
    """Return a value with its placeholders replaced, and note the secrets in it."""
    parts: list[str] = []
    place, length = 0, len(written)
    for each in find_placeholders(written):
        as_written = written[each.start : each.end]
        value = found.get((each.provider, each.path, each.key), as_written)
        if value != as_written:
            # A file may end with a line end that nobody repeats.
            secrets[value] = secrets[value.strip()] = as_written
        length += len(value) - len(as_written)
        if length > limit:
            raise ConfigError(
                f"The value of {key}, with what its placeholders stand for, {_TOO_LONG}", key=key
            )
        parts += [written[place : each.start], value]
        place = each.end
    return "".join([*parts, written[place:]])


def restore_placeholders(
    raw: Config,
    resolved: Config,
    task_configs: Sequence[Mapping[str, str]],
) -> list[dict[str, str]]:
    """Put placeholders back into task configurations, so that no secret is published.

    Args:
        raw: The connector's configuration as written.
        resolved: The same, resolved: what the connector was started with.
        task_configs: What the connector made of it.

    Returns:
        The task configurations; a value that is the connector's resolved one is again its placeholder.
    """
    secret = {key: value for key, value in raw.items() if value is not None and has_placeholder(value)}
    return [
        {
            key: secret[key] if key in secret and value == resolved.get(key) else value
            for key, value in config.items()
        }
        for config in task_configs
    ]
