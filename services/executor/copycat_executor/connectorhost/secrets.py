"""Placeholders and what they stand for: resolved here, and put back in whatever leaves this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import CONFIG_RELOAD
from copycat_connect.config.placeholders import Placeholders, restore_placeholders
from copycat_connect.config.secrets import Secrets

NOTHING = Secrets()
#: A value as long is looked for everywhere in what is said of its own key; a shorter one as a word.
MIN_OWN = 3
#: Of `config.action.reload`, its default.
RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A configuration as written and as resolved."""

    raw: Config = field(repr=False)
    values: Config = field(repr=False)
    secrets: Secrets = NOTHING
    expires_after: float | None = None
    """Seconds for which the values count; None for ever, or where nothing shall happen then."""

    @classmethod
    def of(cls, raw: Config, placeholders: Placeholders) -> Resolved:
        """Resolve a configuration.

        Raises:
            ConfigError: A config provider failed.
        """
        read = placeholders.read(raw)
        reload = read.values.get(CONFIG_RELOAD) or RESTART
        read.secrets.hide()  # before any code of the plugin knows them
        lives = read.ttl_ms is not None and reload == RESTART
        return cls(raw, read.values, read.secrets, (read.ttl_ms or 0) / 1000 if lives else None)

    def given(self) -> dict[str, str]:
        """Return the resolved values without the null ones, as author code gets them."""
        return {key: value for key, value in self.values.items() if value is not None}

    def restore(self, task_configs: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """Put placeholders back into task configurations, also under other keys and within longer values."""
        restored = restore_placeholders(self.raw, self.values, task_configs)
        return [{key: self.secrets.written(value) for key, value in config.items()} for config in restored]

    def scrub(self, text: str) -> str:
        """Put placeholders back into a text: an error's, a trace's."""
        return self.secrets.scrub(text)

    def scrub_refusal(self, text: str, key: str | None = None) -> str:
        """Put placeholders back into what validation says, of `key` if it is about one; short values, too."""
        own, written = (self.values.get(key), self.raw.get(key)) if key is not None else (None, None)
        if own is not None and written is not None and own != written and len(own.strip()) >= MIN_OWN:
            text = text.replace(own, written).replace(own.strip(), written)
        return self.secrets.scrub_all(text)

    def is_given(self, key: str) -> bool:
        """Whether a config provider gave a key's value, or a part of it."""
        raw = self.raw.get(key)
        return raw is not None and self.values.get(key) != raw
