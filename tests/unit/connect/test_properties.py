"""Java properties files."""

from __future__ import annotations

import pytest
from copycat_connect.config.properties import parse_properties
from copycat_connect.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=b", {"a": "b"}),
        ("a = b \n", {"a": "b "}),
        ("a:b\nc d", {"a": "b", "c": "d"}),
        ("# c\n! c\n\n a=1", {"a": "1"}),
        ("a=b\\\n   c", {"a": "bc"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a\\ b=c\\=d", {"a b": "c=d"}),
        ("a=\\u00e9\\t\\x", {"a": "é\tx"}),
        ("a", {"a": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a==b", {"a": "=b"}),
        ("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
    ],
)
def test_a_properties_text_is_read_as_java_reads_it(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs


def test_a_broken_escape_is_refused() -> None:
    with pytest.raises(ConfigError, match="Malformed"):
        parse_properties("a=\\u12")
