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


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("# first\na=1\npass\\=word=s3c\\u12ret\n", "the value of pass=word"),
        ("a=1\ns3c\\u12ret=1", "the key of entry 2"),
    ],
)
def test_a_broken_escape_is_refused_where_it_stands_without_its_text(text: str, where: str) -> None:
    with pytest.raises(ConfigError, match="Malformed") as refused:
        parse_properties(text)
    assert f"in {where}: " in refused.value.message
    assert "s3c" not in refused.value.message
