"""Values that config providers gave, and how to take them out of texts again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

#: Shorter values are too common to be told from others by what they are.
TELLING: Final = 6


@dataclass(frozen=True, slots=True)
class Secrets:
    """What stands for what; a text that leaves the process has the placeholders in it again."""

    placeholders: Mapping[str, str] = field(default_factory=dict)
    """Value to what was written for it, the longest value first."""

    @classmethod
    def of(cls, found: Mapping[str, str]) -> Secrets:
        """Take values and their placeholders."""
        telling = {value: written for value, written in found.items() if len(value.strip()) >= TELLING}
        return cls(dict(sorted(telling.items(), key=lambda pair: -len(pair[0]))))

    def scrub(self, text: str) -> str:
        """Put placeholders back into a text: a message, a trace."""
        for value, written in self.placeholders.items():
            text = text.replace(value, written)
        return text
