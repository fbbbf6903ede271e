"""Patterns that users give: compiled with an error that names their key, matched within a limit of time.

An engine that goes back and forth takes years for some patterns and texts, such as `(a+)+b` and forty
times `a`. Engines that never do so have other semantics than Java's, so the time is bounded instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from copycat_connect.config.java_regex import translate_java_regex
from copycat_connect.config.key import Validator
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.errors import ConfigError

if TYPE_CHECKING:
    import regex

    UserMatch: TypeAlias = regex.Match[str]

MATCH_SECONDS: Final = 1.0
"""Processor time that one match may take; those that people mean take microseconds."""
MAX_MATCHED_CHARACTERS: Final = 1024 * 1024
"""Beyond its first hundredth of a second no longer text is looked at."""
#: Only what takes longer lets other threads run meanwhile: to get the interpreter back may take as long as
#: a thousand matches.
_ALONE_SECONDS: Final = 0.01
_ADVICE: Final = (
    "it may match in too many ways. Write it without repetitions in each other, as in (a+)+, and without two "
    "in a row that take the same characters, as in .*.*, or make them possessive, as in (a++)+"
)
_REMEMBERED_PATTERNS: Final = 256


class PatternTooSlowError(ConfigError):
    """A pattern did not come to an end in time: whoever gave it has to write another."""


@dataclass(frozen=True, slots=True)
class UserPattern:
    """A regular expression of Java in a configuration; may be used by several threads."""

    key: str
    """The key that has it."""
    written: str
    """As its user wrote it."""
    _compiled: regex.Pattern[str] = field(repr=False)
    _refused: set[str] = field(default_factory=set, repr=False, compare=False)

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self._compiled.groups

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The numbers of its named groups."""
        return self._compiled.groupindex

    def fullmatch(self, text: str, seconds: float = MATCH_SECONDS) -> UserMatch | None:
        """Match a whole text, as Java's `matches`.

        Raises:
            PatternTooSlowError: It takes longer than it may.
        """
        return self._within(self._compiled.fullmatch, text, seconds)

    def search(self, text: str) -> UserMatch | None:
        """Find the first match in a text, as Java's `find`.

        Raises:
            PatternTooSlowError: It takes longer than it may.
        """
        return self._within(self._compiled.search, text, MATCH_SECONDS)

    def match(self, text: str) -> UserMatch | None:
        """Match the beginning of a text, as Java's `lookingAt`.

        Raises:
            PatternTooSlowError: It takes longer than it may.
        """
        return self._within(self._compiled.match, text, MATCH_SECONDS)

    def _within(
        self, attempt: Callable[..., UserMatch | None], text: str, seconds: float
    ) -> UserMatch | None:
        try:
            # Pos, endpos, concurrent, partial, timeout: by name they take a microsecond more for each record.
            return attempt(text, None, None, False, False, min(seconds, _ALONE_SECONDS))
        except TimeoutError:
            pass
        # Who tolerates errors comes again with the same text.
        if len(text) <= MAX_MATCHED_CHARACTERS and text not in self._refused and seconds > _ALONE_SECONDS:
            try:
                return attempt(text, None, None, True, False, seconds)
            except TimeoutError:
                self._refused.clear()
                self._refused.add(text)
        raise PatternTooSlowError(
            f"{self.key} has '{self.written}', which does not come to an end within {seconds:g} s of"
            f" processor time for a text of {len(text)} characters: {_ADVICE}",
            key=self.key,
            pattern=self.written,
        )


def compile_user_pattern(key: str, written: str) -> UserPattern:
    """Compile an expression written for Java.

    Args:
        key: The key that has it, for errors.
        written: The expression.

    Raises:
        re.error: It is not one, in Java's words; or it has no counterpart here.
    """
    return UserPattern(key, written, _compiled(written))


@lru_cache(maxsize=_REMEMBERED_PATTERNS)
def _compiled(written: str) -> regex.Pattern[str]:
    import regex  # noqa: PLC0415 - 20 ms and 3 MB, for processes that have no patterns

    translated = translate_java_regex(written)
    try:
        return regex.compile(translated, cache_pattern=False)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        raise re.error(f"the expression is too large: {error}") from error


def _check(name: str, value: ConfigSetting) -> None:
    if value is None:
        # Kafka's validator fails on it too, so that a missing expression counts twice.
        raise invalid_value(name, None, "Invalid regex: there is none")
    if not value:
        return  # most often the default of a key, which no process is to load the engine for
    try:
        compile_user_pattern(name, value)
    except re.error as error:
        reason = f"Invalid regex: {error}"
        raise invalid_value(name, value, reason) from error


matches_java_regex: Validator = _check
"""Accepts regular expressions as Java writes them; refuses null."""
