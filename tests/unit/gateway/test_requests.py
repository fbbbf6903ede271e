"""Requests as they are read: paths, headers, bodies as in Kafka Connect, times and durations."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta, timezone

import pytest
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TargetState
from copycat_connect.errors import ConfigError
from copycat_gateway.bodies import MAX_KEYS, MAX_VALUES, create_request, offset_entries, string_map
from copycat_gateway.clients import WrittenRevisions
from copycat_gateway.edge.headers import header_rules
from copycat_gateway.edge.listeners import bind
from copycat_gateway.edge.paths import segment, task_number
from copycat_gateway.errors import BadRequestError, FailedRequestError, NotFoundError, TooLargeError
from copycat_gateway.moments import duration, instant
from copycat_gateway.views.connectors import location
from copycat_rest.listeners import Listener


@pytest.mark.parametrize("name", ["a/b", "100%", "ünï", "a b", "%41", "?#", "a+b", "..", "\x01"])
def test_a_location_leads_to_its_name(name: str) -> None:
    assert segment(location(name).removeprefix("/connectors/")) == name


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("+5", 5), ("-1", -1), ("2147483647", 2147483647)])
def test_task_numbers_are_32_bit_integers(text: str, number: int) -> None:
    assert task_number(text) == number


@pytest.mark.parametrize("text", ["", "x", "1.0", "2147483648", "9" * 30, "%D9%A3", "1_0", " 1"])
def test_anything_else_is_an_unknown_path(text: str) -> None:
    with pytest.raises(NotFoundError, match="HTTP 404 Not Found"):
        task_number(text)


def test_header_rules_are_read_with_commas_in_quotes() -> None:
    first, second, third = header_rules("k", 'set A: b, "add C: d, e", setDate Expires: 1000')

    assert (first.name, first.value, first.replaces) == ("A", "b", True)
    assert (second.name, second.value, second.replaces) == ("C", "d, e", False)
    assert third.text().endswith("GMT")


@pytest.mark.parametrize("text", ["put A: b", "set A", "set A b: c", "addDate Expires: tomorrow"])
def test_header_rules_of_another_shape_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="action name:value"):
        header_rules("response.http.headers.config", text)


def test_sockets_say_tcp_so_that_answers_are_not_delayed() -> None:
    with bind(Listener("listeners", "127.0.0.1", 0)) as bound:
        assert bound.proto == socket.IPPROTO_TCP


def test_a_name_that_does_not_resolve_is_refused_with_its_key() -> None:
    with pytest.raises(
        ConfigError, match=r"Cannot listen on http://no\.such\.host\.invalid:1 .* set listeners to"
    ):
        bind(Listener("listeners", "no.such.host.invalid", 1))


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


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("2h", timedelta(hours=2)),
        ("90m", timedelta(minutes=90)),
        ("1d12h", timedelta(hours=36)),
        ("1w2d3h4m5s", timedelta(weeks=1, days=2, hours=3, minutes=4, seconds=5)),
        (" 45S ", timedelta(seconds=45)),
        ("PT2H", timedelta(hours=2)),
        ("P1DT12H", timedelta(hours=36)),
        ("p2w", timedelta(weeks=2)),
        ("PT90M", timedelta(minutes=90)),
    ],
)
def test_a_duration_is_read_in_both_forms(text: str, length: timedelta) -> None:
    assert duration(text) == length


@pytest.mark.parametrize(
    "text", ["", "2", "h", "-2h", "2 h", "12h1d", "1.5h", "0s", "PT", "P", "P1H", "2y", "٢h"]
)
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(BadRequestError, match=r"no duration above zero: write .* as in 2h, 90m"):
        duration(text)


@pytest.mark.parametrize(
    "text", ["36501d", "9" * 30 + "h", "P999999999W", "9" * 5_000 + "h", "0d" + "9" * 5_000 + "s"]
)
def test_a_duration_has_an_end(text: str) -> None:
    with pytest.raises(BadRequestError, match="longer than a hundred years"):
        duration(text)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-20T10:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("2026-11-20T10:00:00.250Z", datetime(2026, 11, 20, 10, microsecond=250_000, tzinfo=UTC)),
        ("2026-11-20 10:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("2026-11-20T11:30+01:30", datetime(2026, 11, 20, 11, 30, tzinfo=timezone(timedelta(minutes=90)))),
    ],
)
def test_a_point_in_time_is_read(text: str, time: datetime) -> None:
    assert instant(text) == time


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("2026-11-20T10:00", "does not say in which zone: append Z"),
        ("2026-11-20", "does not say in which zone: append Z"),
        ("2026-11-20T10:00 01:00", "write the \\+ before a zone as %2B"),
        ("yesterday", "by ISO 8601, as in 2026-11-20T10:00Z"),
        ("2026-13-20T10:00Z", "by ISO 8601"),
        ("", "by ISO 8601"),
    ],
)
def test_what_is_no_point_in_time_is_refused_with_the_fix(text: str, fix: str) -> None:
    with pytest.raises(BadRequestError, match=fix):
        instant(text)


@pytest.mark.timeout(60)
def test_a_long_text_is_refused_at_once() -> None:
    with pytest.raises(BadRequestError):
        instant("T" * 1_000_000)


def test_the_floor_is_the_newest_write_of_each_partition() -> None:
    written = WrittenRevisions(instances=2)

    for revision in ({0: 5}, {0: 3, 1: 2}, {1: 1}):
        written.note(types_pb2.Revision(next=revision))

    assert dict(written.floor().next) == {0: 5, 1: 2}


def test_a_single_instance_is_asked_for_nothing() -> None:
    written = WrittenRevisions(instances=1)

    written.note(types_pb2.Revision(next={0: 5}))

    assert dict(written.floor().next) == {}
