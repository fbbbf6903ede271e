"""Text to values: guesses the schema, as the header converter has to."""

from __future__ import annotations

from collections.abc import Iterator

from copycat_connect.data.schema import (
    BOOLEAN_SCHEMA,
    NULL,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaAndValue,
    SchemaType,
)
from copycat_connect.errors import DataError
from copycat_connect.values.merging import common_schema, fit
from copycat_connect.values.scalars import parse_number, parse_temporal

_DELIMITERS = frozenset(':,{}[]"')


class _Tokens:
    """The tokens of a text with a place in them; a delimiter is a token, and so is all between two."""

    def __init__(self, text: str) -> None:
        self.text = text
        """All of it, the tokens that were taken included."""
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
        if character in _DELIMITERS and not escaped:
            if start < place:
                yield text[start:place]
            yield character
            start = place + 1
        escaped = character == "\\" and not escaped
    if start < len(text):
        yield text[start:]


Element = SchemaAndValue | None
_TEMPORAL_TOKENS = 4
_QUOTE = '"'


def parse_value(text: str | None) -> SchemaAndValue:
    """Return the value a text most likely stands for; whatever is nothing else is a string.

    A number followed by anything is a string here. Kafka Connect drops what follows: its defect KAFKA-20892.
    """
    if text is None:
        return NULL
    tokens = _Tokens(text)
    if tokens.is_single and text.strip() in _LITERALS:
        return _LITERALS[text.strip()]
    return _container(tokens) or _alone(tokens) or SchemaAndValue(STRING_SCHEMA, text)


def _container(tokens: _Tokens) -> Element:
    """Return the list or map the text begins with; what follows it is ignored."""
    try:
        return _embedded_container(tokens)
    except DataError:
        tokens.place = 0
        return None


def _alone(tokens: _Tokens) -> Element:
    first = "" if tokens.ended else tokens.take().strip()
    return _scalar(tokens, first, alone=True) if first else None


_LITERALS = {
    "null": NULL,
    "true": SchemaAndValue(BOOLEAN_SCHEMA, True),
    "false": SchemaAndValue(BOOLEAN_SCHEMA, False),
}


def _scalar(tokens: _Tokens, token: str, *, alone: bool) -> Element:
    if token[0].isdecimal():
        # Colons are delimiters, so a time is five tokens.
        rest = tokens.look_ahead(_TEMPORAL_TOKENS)
        temporal = parse_temporal(token + rest) if rest is not None else None
        if temporal is not None:
            tokens.place += _TEMPORAL_TOKENS
            return temporal
        temporal = parse_temporal(token)
        if temporal is not None:
            return temporal
    if not token[0].isdecimal() and token[0] not in "+-":
        return None
    if alone and not tokens.is_single:
        return None
    return parse_number(token)


def _embedded(tokens: _Tokens) -> Element:
    if tokens.take_if(_QUOTE):
        return _quoted(tokens)
    if tokens.take_if("null"):
        return None
    for literal in ("true", "false"):
        if tokens.take_if(literal):
            return _LITERALS[literal]
    container = _embedded_container(tokens)
    if container is not None:
        return container
    token = next((token for token in tokens.rest() if token), "")
    value = _scalar(tokens, token, alone=False) if token else None
    if value is None:
        raise DataError("Failed to parse embedded value")
    return value


def _embedded_container(tokens: _Tokens) -> Element:
    if tokens.take_if("["):
        return _array(tokens)
    return _map(tokens) if tokens.take_if("{") else None


def _quoted(tokens: _Tokens) -> SchemaAndValue:
    content = ""
    while not tokens.ended:
        token = tokens.take()
        if token == _QUOTE:
            return parse_temporal(content) or SchemaAndValue(STRING_SCHEMA, content)
        content += token
    raise DataError("String is missing its closing quote")


def _array(tokens: _Tokens) -> SchemaAndValue:
    elements: list[Element] = []
    while not tokens.take_if("]"):
        if tokens.ended:
            raise DataError("Array is missing terminating ']': " + tokens.text)
        if tokens.take_if(","):
            raise DataError("Unable to parse an empty array element: " + tokens.text)
        elements.append(_embedded(tokens))
        if not tokens.take_if(",") and not _at(tokens, "]"):
            raise DataError("Array elements missing ',' delimiter")
    schema = common_schema(elements)
    values = [fit(element, schema) for element in elements]
    return SchemaAndValue(Schema(SchemaType.ARRAY, value=schema), values)


def _map(tokens: _Tokens) -> SchemaAndValue:
    keys: list[Element] = []
    items: list[Element] = []
    #: The last item of each key as it is written: keys of several widths fall together only later.
    entries: dict[object, tuple[Element, Element]] = {}
    while not tokens.take_if("}"):
        if tokens.ended:
            raise DataError("Map is missing terminating '}': " + tokens.text)
        if tokens.take_if(","):
            raise DataError("Unable to parse a map entry with no key or value: " + tokens.text)
        key = _embedded(tokens)
        if key is None:
            raise DataError("Map entry may not have a null key: " + tokens.text)
        if not tokens.take_if(":"):
            raise DataError(f"Map entry is missing ':' at {tokens.place} in {tokens.text}")
        keys.append(key)
        items.append(_embedded(tokens))
        entries[key.schema and key.schema.type, repr(key.value)] = key, items[-1]
        tokens.take_if(",")
    of_keys, of_items = common_schema(keys), common_schema(items)
    if of_keys is None:  # as in Kafka Connect, which then leaves the values too as they are
        of_items = None
    values: dict[ConnectValue, ConnectValue] = {
        _hashable(fit(key, of_keys)): fit(item, of_items) for key, item in entries.values()
    }
    return SchemaAndValue(Schema(SchemaType.MAP, key=of_keys, value=of_items), values)


def _at(tokens: _Tokens, wanted: str) -> bool:
    place = tokens.place
    found = tokens.take_if(wanted)
    tokens.place = place
    return found


def _hashable(key: ConnectValue) -> ConnectValue:
    if isinstance(key, (list, dict)):
        raise DataError("A map or list cannot be a map's key")
    return key
