"""Tokens: text cut at the delimiters that are not escaped."""

from __future__ import annotations

from collections.abc import Iterator

DELIMITERS = frozenset(':,{}[]"')


class Tokens:
    """The tokens of a text with a place in them; a delimiter is a token, and so is all between two."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The whole text."""
        self._tokens = list(_split(text))
        self.place = 0
        """How many tokens were taken; may be set back."""

    @property
    def ended(self) -> bool:
        """True when no token is left."""
        return self.place >= len(self._tokens)

    @property
    def is_single(self) -> bool:
        """True when the text is one token, blanks around it aside."""
        return sum(bool(token.strip()) for token in self._tokens) == 1

    def take(self) -> str:
        """Return the next token, blanks included."""
        token = self._tokens[self.place]
        self.place += 1
        return token

    def rest(self) -> Iterator[str]:
        """Yield the remaining tokens, blanks stripped."""
        while not self.ended:
            yield self.take().strip()

    def look_ahead(self, count: int) -> str | None:
        """Return the text of the next tokens without taking them; None when there are not that many."""
        found = self._tokens[self.place : self.place + count]
        return "".join(found) if len(found) == count else None

    def take_if(self, wanted: str) -> bool:
        """Consume the next token that is not blank, if it is the wanted one."""
        place = self.place
        while place < len(self._tokens) and not self._tokens[place].strip():
            place += 1
        if place < len(self._tokens) and self._tokens[place].strip() == wanted:
            self.place = place + 1
            return True
        return False


def _split(text: str) -> Iterator[str]:
    start, escaped = 0, False
    for place, character in enumerate(text):
        if character in DELIMITERS and not escaped:
            if start < place:
                yield text[start:place]
            yield character
            start = place + 1
        escaped = character == "\\" and not escaped
    if start < len(text):
        yield text[start:]
