"""Values that config providers gave, and how to take them out of texts again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

#: Shorter values occur in many texts by chance, so they are not replaced.
MIN_SCRUBBED_CHARACTERS: Final = 6


@dataclass(frozen=True, slots=True)
class Secrets:
    """Which placeholder stands for which secret value, to hide values in texts that leave the process."""

    placeholders: Mapping[str, str] = field(default_factory=dict)
    """Value to what was written for it, the longest value first."""

    @classmethod
    def of(cls, found: Mapping[str, str]) -> Secrets:
        """Keep the values long enough to be found in a text, with their placeholders."""
        enough = MIN_SCRUBBED_CHARACTERS
        long = {value: written for value, written in found.items() if len(value.strip()) >= enough}
        return cls(dict(sorted(long.items(), key=lambda pair: -len(pair[0]))))

    def scrub(self, text: str) -> str:
        """Put placeholders back into a text: a message, a trace."""
        for value, written in self.placeholders.items():
            text = text.replace(value, written)
        return text
