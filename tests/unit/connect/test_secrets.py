"""What config providers gave does not leave in a text."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from urllib.parse import quote, quote_plus, urlencode

import pytest
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.provider import ConfigProvider
from copycat_connect.config.secrets import Redactor, Secrets
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_short_value_is_found_in_a_refusal_where_it_is_a_word() -> None:
    secrets = READ({"a": "${vault:pin}"}).secrets

    assert secrets.scrub_all("1234 is no pin, 12345 is none") == "${vault:pin} is no pin, 12345 is none"


ODD = "pa\"ss w\u00f6rd/+&<\\\n'x"


@pytest.mark.parametrize(
    "spelled",
    [
        ODD,
        repr(ODD),
        repr({"k": ODD}),
        repr(ODD.encode()),
        json.dumps({"k": ODD}),
        json.dumps(ODD, ensure_ascii=False),
        f"http://user:{quote(ODD, safe='')}@host",
        urlencode({"k": ODD}),
        quote_plus(ODD).lower(),
        base64.b64encode(ODD.encode()).decode(),
        base64.b64encode(f"me:{ODD}".encode()).decode(),
        base64.urlsafe_b64encode(f"user:{ODD}:and more".encode()).decode(),
    ],
)
def test_a_secret_is_found_however_it_is_spelled(spelled: str) -> None:
    shown = Secrets.of({ODD: "${vault:odd}"}).scrub(f"got {spelled}, sorry")

    assert "${vault:odd}" in shown
    assert not [part for part in ("pa", "ss", "w\u00f6rd", "rd") if part in shown.removesuffix("sorry")]


def test_a_value_of_several_lines_is_found_line_by_line_too() -> None:
    secrets = Secrets.of({"first line of a key\nsecond line of a key\nend": "${vault:key}"})

    assert secrets.scrub("got\n  second line of a key\n") == "got\n  ${vault:key}\n"


def test_what_is_shown_for_one_secret_is_not_searched_for_another() -> None:
    secrets = Secrets.of({"correct horse": "${vault:secret/data:word}", "secret/data": "${vault:path}"})

    assert secrets.scrub("correct horse") == "${vault:secret/data:word}"
    assert secrets.written("x-correct horse") == "x-${vault:secret/data:word}"


def test_no_text_of_a_configuration_or_of_its_secrets_shows_them() -> None:
    read = READ({"jaas": "password=${vault:word}"})

    assert "horse" not in f"{read} {read.secrets!r}"


SECRET = st.text(st.sampled_from("abc\n \u00e9"), min_size=6, max_size=30).filter(
    lambda s: len(s.strip()) >= 6
)


def cut(text: str, places: list[int]) -> list[str]:
    ends = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


@given(
    secrets=st.lists(SECRET, min_size=1, max_size=3),
    around=st.lists(st.text(st.sampled_from("abcxyz\n "), max_size=20), min_size=4, max_size=4),
    places=st.lists(st.integers(0, 200), max_size=12),
)
def test_a_secret_is_found_wherever_a_text_is_cut(
    secrets: list[str], around: list[str], places: list[int]
) -> None:
    shown = dict.fromkeys(secrets, "*")
    redactor = Redactor(shown)
    text = "".join(part for pair in zip(around, [*secrets, "", "", ""], strict=False) for part in pair)
    said, held = "", ""
    for piece in cut(text, places):
        out, held = redactor.take(held + piece, more=True)
        said += out
    assert said + redactor.last(held) == redactor.scrub(text)
    assert not [secret for secret in secrets if secret in said]


@pytest.mark.parametrize("kept", range(6, 21))
def test_what_ends_in_the_middle_of_a_secret_does_not_show_its_beginning(kept: int) -> None:
    redactor = Redactor({"correct horse battery": "*"})

    said, held = redactor.take(f"x{'correct horse battery'[:kept]}", more=True)

    assert said + redactor.last(held) == "x*"


def test_values_are_forgotten_when_there_are_too_many() -> None:
    redactor = Redactor(most=2)
    for number in range(3):
        redactor.add({f"number {number} of the secrets": "*"})

    assert redactor.scrub("number 0 of the secrets, number 2 of the secrets") == "number 0 of the secrets, *"


def test_values_may_be_added_while_others_read() -> None:
    redactor = Redactor()

    def work(first: int) -> bool:
        for number in range(first, first + 100):
            redactor.add({f"the secret {number:05}": "*"})
            if redactor.scrub(f"the secret {number:05}") != "*":
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(0, 400, 100)))


def test_whoever_listens_hears_of_all_values() -> None:
    redactor, heard = Redactor({"the first secret": "a"}), dict[str, str]()
    redactor.tell(heard.update)
    redactor.add({"the second secret": "b", "short": "c"})

    assert heard == {"the first secret": "a", "the second secret": "b"}


def test_of_a_value_that_is_forgotten_nothing_is_held_back() -> None:
    """Values that Vault lends for an hour come by the thousands in the life of a process."""
    redactor = Redactor(most=1)
    for value in ("zebra-of-monday", "zebra-of-tuesday", "queen-of-wednesday"):
        redactor.add({value: "${vault:word}"})

    assert redactor.take("a zebr", more=True) == ("a zebr", "")
    assert redactor.take("a que", more=True) == ("a ", "que")


def test_what_two_values_have_in_common_stays_hidden_when_one_is_forgotten() -> None:
    redactor = Redactor(most=2)
    for value in ("user=one\npassword=hunter22", "user=two\npassword=hunter22", "queen-of-wednesday"):
        redactor.add({value: "${vault:file}"})

    assert redactor.scrub("sent password=hunter22") == "sent ${vault:file}"
