"""Request bodies are read as Kafka Connect reads them."""

from __future__ import annotations

import json

import pytest
from copycat_connect.cluster import TargetState
from copycat_gateway.bodies import MAX_KEYS, MAX_VALUES, create_request, offset_entries, string_map
from copycat_gateway.errors import FailedRequestError, TooLargeError


def test_scalars_become_text_as_they_were_written() -> None:
    read = string_map(b'{"a":1,"b":1.50,"c":1E3,"d":true,"e":false,"f":null,"g":"x","h":-0}')

    assert read == {
        "a": "1",
        "b": "1.50",
        "c": "1E3",
        "d": "true",
        "e": "false",
        "f": None,
        "g": "x",
        "h": "-0",
    }


def test_the_order_of_keys_is_kept_and_of_two_alike_the_later_counts() -> None:
    assert list(string_map(b'{"z":"1","a":"2","z":"3"}').items()) == [("z", "3"), ("a", "2")]


def test_numbers_of_any_length_are_text() -> None:
    digits = "9" * 5000

    assert string_map(f'{{"a":{digits}}}'.encode()) == {"a": digits}


def test_lone_surrogates_become_question_marks() -> None:
    assert string_map(b'{"k\\udc00":"\\ud83d\\ude00 \\ud800"}') == {"k?": "\U0001f600 ?"}


def test_only_blanks_and_control_characters_are_trimmed_off_a_name() -> None:
    assert create_request('{"name":"\\t a\u00a0 ","config":{}}'.encode()).name == "a\u00a0"


def test_a_missing_name_is_empty_and_a_missing_state_is_running() -> None:
    request = create_request(b'{"config":{"k":"v"}}')

    assert (request.name, request.config, request.initial_state) == ("", {"k": "v"}, TargetState.STARTED)


def test_offset_entries_keep_numbers_and_nulls() -> None:
    (entry,) = offset_entries(b'{"offsets":[{"partition":{"a":1,"b":null,"c":1.5},"offset":null}]}')

    assert entry.partition == {"a": 1, "b": None, "c": 1.5}
    assert entry.offset is None


@pytest.mark.parametrize(
    "body", [b'{"offsets":[{"partition":"p"}]}', b'{"offsets":7}', b"3", b'"x"', b"true"]
)
def test_another_shape_fails(body: bytes) -> None:
    with pytest.raises(FailedRequestError, match="Cannot deserialize value"):
        offset_entries(body)


def test_a_body_with_hundreds_of_thousands_of_keys_is_refused_before_it_is_parsed() -> None:
    body = b"{" + b",".join(b'"k%d":1' % number for number in range(330_000))  # its end is missing

    for read in (string_map, create_request, offset_entries):
        with pytest.raises(TooLargeError, match=f"at most {MAX_VALUES} are accepted"):
            read(body)


def test_a_configuration_with_too_many_keys_is_refused() -> None:
    fits = json.dumps({f"k{number}": "" for number in range(MAX_KEYS)}).encode()
    more = fits.replace(b"{", b'{"one more":"",')

    assert len(string_map(fits)) == MAX_KEYS
    for body in (more, b'{"name":"c","config":%s}' % more):
        with pytest.raises(TooLargeError, match=f"it has {MAX_KEYS + 1}, at most {MAX_KEYS} are accepted"):
            (string_map if body is more else create_request)(body)


def test_commas_within_text_are_no_values() -> None:
    text = 'a,"\\,' * MAX_VALUES

    assert string_map(json.dumps({"k": text}).encode()) == {"k": text}


def test_a_text_without_end_is_no_valid_json() -> None:
    with pytest.raises(FailedRequestError, match="is not valid JSON"):
        string_map(b'{"k":"' + b"a," * MAX_VALUES)
