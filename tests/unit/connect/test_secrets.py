"""What config providers gave does not leave in a text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.provider import ConfigProvider

LINE = "hunter22\n"


class Vault(ConfigProvider):
    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        return {key: {"word": "correct horse", "line": LINE, "pin": "1234"}[key] for key in keys}


READ = Placeholders({"vault": Vault()}).read


def test_a_secret_inside_of_a_longer_value_is_found_alone_and_with_what_is_around_it() -> None:
    read = READ({"jaas": 'module required password="${vault:word}";'})

    assert read.secrets.scrub("wrong: correct horse") == "wrong: ${vault:word}"
    assert read.secrets.scrub(read.values["jaas"]) == 'module required password="${vault:word}";'


def test_a_secret_is_found_without_the_line_end_of_its_file() -> None:
    assert READ({"a": "${vault:line}"}).secrets.scrub("got hunter22!") == "got ${vault:line}!"


def test_what_is_too_short_to_tell_or_no_secret_stays() -> None:
    secrets = READ({"a": "${vault:pin}", "b": "plain text", "c": "${other:word}"}).secrets

    assert secrets.scrub("1234 plain text ${other:word}") == "1234 plain text ${other:word}"
