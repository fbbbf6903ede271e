"""Values that config providers gave, and how to take them out of texts again."""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, quote_plus

#: Shorter values occur in many texts by chance, so they are not replaced.
MIN_SCRUBBED_CHARACTERS: Final = 6
#: Of a value of several lines, each that has as many is looked for alone, too; so is a value in base64.
MIN_PART_CHARACTERS: Final = 12
#: Longer values are looked for as they are and line by line, but not in other spellings.
MAX_SPELLED_CHARACTERS: Final = 64 * 1024
#: How many values a process remembers; the one that was named first is forgotten first.
MAX_VALUES: Final = 10_000
_ESCAPES: Final = re.compile(r"%[0-9A-F]{2}")


class Redactor:
    """Finds texts that may not be shown and puts others in their place; may be used from any thread."""

    def __init__(self, found: Mapping[str, str] | None = None, *, most: int = MAX_VALUES) -> None:
        """`found` has what to show in place of each value; `most` values are remembered."""
        self._most = most
        self._lock = threading.Lock()
        self._shown: dict[str, str] = {}
        # What is looked for, by its first characters, the longest text first.
        self._starts: dict[str, tuple[tuple[str, str], ...]] = {}
        # How many of those characters begin so, and how many values are spelled so.
        self._beginnings: Counter[str] = Counter()
        self._uses: Counter[str] = Counter()
        self._longest = 0
        self._told: list[Callable[[Mapping[str, str]], None]] = []
        self.add(found or {})

    def add(self, found: Mapping[str, str]) -> None:
        """Hide these values from now on; those that are too short are left out."""
        with self._lock:
            new = {value: shown for value, shown in found.items() if self._shown.get(value) != shown}
            new = {value: shown for value, shown in new.items() if _is_long(value)}
            for value, shown in new.items():
                self._forget(value)
                self._shown[value] = shown
                self._learn(value, shown)
            while len(self._shown) > self._most:
                self._forget(next(iter(self._shown)))
        for tell in self._told if new else ():
            tell(new)

    def tell(self, listener: Callable[[Mapping[str, str]], None]) -> None:
        """Have `listener` hear of all values there are, and of each that is added."""
        with self._lock:
            known = dict(self._shown)
            self._told.append(listener)
        listener(known)

    def scrub(self, text: str) -> str:
        """Return a text without the values, however they are spelled."""
        return self.take(text, more=False)[0]

    def take(self, text: str, *, more: bool) -> tuple[str, str]:
        """Return the text without the values, and its end if a value may begin there.

        With `more` text to come, that end is held back: put it before what comes.
        """
        starts = self._starts
        if not starts:
            return text, ""
        pieces: list[str] = []
        done, at, size = 0, 0, len(text)
        doubtful = size - self._longest if more else size
        while at < size:
            if at > doubtful and self._goes_on(text, at):
                return "".join((*pieces, text[done:at])), text[at:]
            found = _match(text, at, starts)
            if found is None:
                at += 1
                continue
            form, shown = found
            pieces += text[done:at], shown
            at = done = at + len(form)
        return "".join((*pieces, text[done:])), ""

    def last(self, held: str) -> str:
        """Return what to show of an end that was held back when nothing follows it."""
        start = held[:MIN_SCRUBBED_CHARACTERS]
        for form, shown in self._starts.get(start, ()):
            if form.startswith(held):
                return shown
        return self.scrub(held)

    def _goes_on(self, text: str, at: int) -> bool:
        """Whether the end of a text from there on is the beginning of something that is looked for."""
        start = text[at : at + MIN_SCRUBBED_CHARACTERS]
        if len(start) < MIN_SCRUBBED_CHARACTERS:
            return start in self._beginnings
        found, left = self._starts.get(start, ()), len(text) - at
        return any(len(form) > left and form.startswith(text[at:]) for form, _ in found)

    def _learn(self, value: str, shown: str) -> None:
        for form in _sought(value):
            start = form[:MIN_SCRUBBED_CHARACTERS]
            if start not in self._starts:
                self._beginnings.update(_beginnings(start))
            others = [each for each in self._starts.get(start, ()) if each[0] != form]
            self._starts[start] = tuple(sorted([*others, (form, shown)], key=lambda each: -len(each[0])))
            self._uses[form] += 1
            self._longest = max(self._longest, len(form))

    def _forget(self, value: str) -> None:
        if self._shown.pop(value, None) is None:
            return
        for form in _sought(value):
            if _still_there(self._uses, form):
                continue  # another value has it, too: a line of its file
            start = form[:MIN_SCRUBBED_CHARACTERS]
            left = tuple(each for each in self._starts[start] if each[0] != form)
            if left:
                self._starts[start] = left
                continue
            del self._starts[start]
            for beginning in _beginnings(start):
                _still_there(self._beginnings, beginning)


#: What this process may not show. Author code runs in threads of its own, too, so it belongs to no connector.
HIDDEN_HERE: Final = Redactor()


@dataclass(frozen=True, slots=True)
class Secrets:
    """Which placeholder stands for which secret value, to hide values in texts that leave the process."""

    placeholders: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Value to what was written for it, the longest value first."""
    short: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The same of values that are too short to be looked for in any text."""
    _redactor: Redactor = field(default_factory=Redactor, repr=False, compare=False)

    @classmethod
    def of(cls, found: Mapping[str, str]) -> Secrets:
        """Keep the values with their placeholders."""
        ordered = sorted(found.items(), key=lambda pair: -len(pair[0]))
        long = {value: written for value, written in ordered if _is_long(value)}
        short = {value: written for value, written in ordered if value.strip() and not _is_long(value)}
        return cls(long, short, Redactor(long))

    @classmethod
    def union(cls, *several: Secrets) -> Secrets:
        """Return the secrets of several configurations."""
        kinds = (kind for each in several for kind in (each.placeholders, each.short))
        return cls.of({value: written for kind in kinds for value, written in kind.items()})

    def hide(self) -> None:
        """Let nothing that this process writes show one of the values from now on."""
        HIDDEN_HERE.add(self.placeholders)

    def written(self, value: str) -> str:
        """Return a setting as it can be published: what is read there again is the same."""
        if not self.placeholders:
            return value
        found = "|".join(map(re.escape, self.placeholders))
        return re.sub(found, lambda match: self.placeholders[match[0]], value)

    def scrub(self, text: str) -> str:
        """Put placeholders back into a text (a message, a trace), for all secrets of this process."""
        return HIDDEN_HERE.scrub(self._redactor.scrub(text))

    def scrub_all(self, text: str) -> str:
        """Put placeholders back for short values as well, where they are words of their own."""
        text = self.scrub(text)
        for value, written in self.short.items():
            word = rf"(?<!\w){re.escape(value.strip())}(?!\w)"
            text = re.sub(word, lambda _, written=written: written, text)  # type: ignore[misc]
        return text


def _is_long(value: str) -> bool:
    return len(value.strip()) >= MIN_SCRUBBED_CHARACTERS


def _match(text: str, at: int, starts: Mapping[str, tuple[tuple[str, str], ...]]) -> tuple[str, str] | None:
    found = starts.get(text[at : at + MIN_SCRUBBED_CHARACTERS])
    return next((each for each in found or () if text.startswith(each[0], at)), None)


def _still_there(uses: Counter[str], text: str) -> bool:
    """Count one use less; returns whether there is another."""
    uses[text] -= 1
    if not uses[text]:
        del uses[text]
    return text in uses


def _sought(value: str) -> Iterator[str]:
    """Yield the spellings that are looked for, each once."""
    return (form for form in set(_forms(value)) if len(form) >= MIN_SCRUBBED_CHARACTERS)


def _beginnings(start: str) -> Iterator[str]:
    """Yield what a text may end with in the midst of these characters."""
    return (start[:length] for length in range(1, MIN_SCRUBBED_CHARACTERS))


def _forms(value: str) -> Iterator[str]:
    """Yield how a value may be spelled in a text."""
    stripped = value.strip()
    yield value
    yield stripped
    lines = [line.strip() for line in value.splitlines()]
    yield from (line for line in lines if len(line) >= MIN_PART_CHARACTERS)
    if len(value) > MAX_SPELLED_CHARACTERS:
        return
    for text in {value, stripped}:
        raw = text.encode(errors="surrogatepass")
        yield repr(text)[1:-1]
        yield repr(raw)[2:-1]
        yield json.dumps(text)[1:-1]
        yield json.dumps(text, ensure_ascii=False)[1:-1]
        yield html.escape(text)
        yield html.escape(text, quote=False)
        for address in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
            yield address
            yield _ESCAPES.sub(lambda escape: escape[0].lower(), address)
        yield from _base64(raw)


def _base64(raw: bytes) -> Iterator[str]:
    """Yield what base64 shows of some bytes wherever they stand, in `user:password` for example."""
    for before, touched in enumerate((0, 2, 3)):
        whole = (before + len(raw)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(bytes(before) + raw).decode()[touched:whole]
            if len(text) >= MIN_PART_CHARACTERS:
                yield text
