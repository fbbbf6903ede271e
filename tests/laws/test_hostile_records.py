"""Whatever the bytes of a record are: it states a fact that can be sent, or none; nothing else happens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from copycat_config.adapters import messages as config_messages
from copycat_config.adapters import telling as config_telling
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.evolve import evolve as evolve_config
from copycat_config.domain.state import ConfigState
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Codec, Entry, Record
from copycat_eventlog.past.change import PastChange, read_change, write_change
from copycat_eventlog.unreadable import LogRecordReader
from copycat_offset.adapters import telling as offset_telling
from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.adapters.messages import change_message
from copycat_offset.domain.evolve import evolve as evolve_offset
from copycat_offset.domain.state import OffsetState
from copycat_scheduler.adapters import messages as scheduler_messages
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_scheduler.domain.evolve import evolve as evolve_scheduler
from copycat_scheduler.domain.state import SchedulerState
from copycat_scheduler.domain.views import highest_generation
from copycat_serving.history import change_message as past_message
from copycat_status.adapters import messages as status_messages
from copycat_status.adapters import telling as status_telling
from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.evolve import evolve as evolve_status
from copycat_status.domain.state import StatusState
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

THOROUGH = settings(deadline=None, suppress_health_check=list(HealthCheck))
INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Subject:
    """A service, and all that it makes of what it reads."""

    codec: Codec[Any]
    evolve: Callable[[Any, Any], Any]
    initial: Any
    keys: tuple[str, ...]
    """What its keys begin with; what stands for a name is `%s`, for a number `%d`."""
    told: Callable[[Any, Any], Iterable[Message]]
    """Messages of a state, and of an event in it."""
    history: Callable[[Any, Any], Iterable[PastChange]] = lambda _event, _state: ()


def offset_messages(_event: Any, state: OffsetState) -> Iterable[Message]:
    for change in state.changes.values():
        if (message := change_message(change)) is not None:
            yield message


SUBJECTS = {
    "config": Subject(
        ConfigCodec(),
        evolve_config,
        ConfigState(),
        (
            *("connector-%s", "task-%s-%d", "commit-%s", "target-state-%s", "tasks-fencing-%s"),
            *("restart-connector-%s", "logger-cluster-%s", "session-key"),
        ),
        lambda event, state: (
            *config_messages.snapshot_messages(state),
            *config_messages.change_messages(event, state),
        ),
        config_telling.tell,
    ),
    "offset": Subject(
        OffsetCodec(),
        evolve_offset,
        OffsetState(),
        ('["%s",{}]', '["%s",{"a":%d}]', '["%s",null]', '["\\u0000undo:%s",null]', '["%s",%d]'),
        offset_messages,
        offset_telling.tell,
    ),
    "status": Subject(
        StatusCodec(),
        evolve_status,
        StatusState(),
        ("status-connector-%s", "status-task-%s-%d", "status-topic-t:connector-%s"),
        lambda event, state: (
            *status_messages.snapshot_messages(state),
            *status_messages.change_messages(event, state),
        ),
        status_telling.tell,
    ),
    "scheduler": Subject(
        SchedulerCodec(),
        evolve_scheduler,
        SchedulerState(),
        ('["%s"]', '["%s",%d]'),
        lambda event, state: (
            *scheduler_messages.snapshot_messages(state),
            *scheduler_messages.change_messages(event, state),
        ),
    ),
}

NUMBERS = st.one_of(
    st.integers(-2, 2),
    st.integers(),
    st.sampled_from([2**31 - 1, 2**31, 2**62, 2**62 + 1, INT64_MAX, INT64_MAX + 1, -(2**63) - 1, 2**200]),
)
#: As JSON text, for Python refuses to write them as numbers.
HUGE = st.sampled_from(["9" * 5000, "0" * 5000, "-" + "9" * 4400, "1e999", "NaN", "Infinity", "-Infinity"])
DEEP = st.integers(1, 3).flatmap(
    lambda kind: st.sampled_from([2, 60, 70, 900, 5_000, 100_000]).map(
        lambda depth: ["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth][kind - 1]
    )
)
NAMES = st.one_of(
    st.sampled_from(["", "a", "a-0", "\\ud800", "\\udfff", "\0", "..", "ü", "a" * 5000, '\\"', "\\u0000"]),
    st.text(max_size=8),
)
FIELDS = (
    *("properties", "tasks", "task-count", "state", "state.v2", "level", "include-tasks", "only-failed"),
    *("key", "algorithm", "creation-timestamp", "worker_id", "generation", "trace", "version", "topic"),
    *("worker", "partitions", "changed_at", "undone_at", "reset", "group", "source", "sink", "too_large"),
    *("name", "connector", "task", "discoverTimestamp", "time", "kind", "subject", "before", "after", "by"),
)
STATES = st.sampled_from(
    ["RUNNING", "FAILED", "STOPPED", "PAUSED", "GONE", "config", "commit", "{}", "[]", "7"]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    NUMBERS,
    st.floats(),
    st.text(max_size=6),
    STATES,
    st.just("\ud800"),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=20,
)
#: What each kind of record holds, so that most of it is right and one thing is not.
NEARLY_RIGHT = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(st.sampled_from(["a", "b"]), st.text(max_size=3)) | VALUES,
        "tasks": NUMBERS,
        "task-count": NUMBERS,
        "state": STATES,
        "worker_id": st.text(max_size=3) | st.just("\ud800"),
        "generation": NUMBERS,
        "worker": st.text(max_size=3) | st.just("\udfff"),
        "partitions": st.lists(st.tuples(st.text(max_size=2), NUMBERS), max_size=2),
        "changed_at": NUMBERS,
        "undone_at": st.none() | NUMBERS,
        "group": st.text(max_size=3),
        "source": st.lists(
            st.fixed_dictionaries({"partition": STATES | st.just('{"a":1}'), "before": st.none() | STATES}),
            max_size=2,
        ),
        "sink": st.lists(
            st.fixed_dictionaries({"topic": st.text(max_size=2), "partition": NUMBERS}), max_size=2
        ),
        "topic": st.fixed_dictionaries({"task": NUMBERS, "discoverTimestamp": NUMBERS}),
        "level": st.text(max_size=3),
        "key": st.text(max_size=3),
        "algorithm": st.text(max_size=3),
        "creation-timestamp": NUMBERS,
        "time": NUMBERS,
        "kind": STATES,
        "subject": STATES,
        "before": STATES,
        "after": STATES,
    },
)


def written(value: object) -> bytes:
    """Return JSON text of what may be no JSON: surrogates are escaped, and so remain."""
    return json.dumps(value).encode()


def texts() -> st.SearchStrategy[bytes]:
    spoilt = NEARLY_RIGHT.flatmap(
        lambda fields: HUGE.map(lambda number: written(fields).replace(b"0", number.encode(), 1))
    )
    return st.one_of(
        NEARLY_RIGHT.map(written),
        VALUES.map(written),
        spoilt,
        HUGE.map(str.encode),
        DEEP.map(str.encode),
        st.binary(max_size=60),
        NEARLY_RIGHT.map(lambda fields: written(fields)[:-1]),
    )


def keys_of(subject: Subject) -> st.SearchStrategy[bytes]:
    numbers = NUMBERS.map(str) | HUGE | st.sampled_from(["", "+1", "-1", "1_0", "٣", " 1", "01"])
    composed = st.tuples(st.sampled_from(subject.keys), NAMES, numbers).map(
        lambda parts: parts[0].replace("%s", parts[1]).replace("%d", parts[2])
    )
    return composed.map(lambda key: key.encode("utf-8", "surrogatepass")) | st.binary(max_size=40) | texts()


def entries(subject: Subject) -> st.SearchStrategy[list[Entry]]:
    times = st.sampled_from([None, -1, 0, 2**62, -(2**62)])
    record = st.builds(Record, keys_of(subject), st.none() | texts(), times)
    return st.lists(record, max_size=6).map(
        lambda found: [Entry(0, at, each) for at, each in enumerate(found)]
    )


@pytest.mark.parametrize("name", SUBJECTS)
@THOROUGH
@given(data=st.data())
def test_a_codec_states_a_fact_or_says_that_there_is_none(name: str, data: st.DataObject) -> None:
    codec = SUBJECTS[name].codec
    for entry in data.draw(entries(SUBJECTS[name])):
        with suppress(MalformedError):  # whatever else is raised fails here
            event = codec.decode(entry.record)
            again = codec.encode(event)
            assert codec.decode(Record(again.key, again.value, entry.record.timestamp_ms)) == event


@pytest.mark.parametrize("name", SUBJECTS)
@THOROUGH
@given(data=st.data())
def test_what_was_read_can_be_told_to_watchers_and_in_the_history(name: str, data: st.DataObject) -> None:
    subject = SUBJECTS[name]
    reader, state = LogRecordReader(subject.codec, "t"), subject.initial
    for entry in data.draw(entries(subject)):
        before = state
        event, state = reader.step(subject.evolve, state, entry)
        if event is None:
            continue
        for message in subject.told(event, state):
            message.SerializeToString()
        for change in subject.history(event, before):
            record = write_change(change)
            past_message(read_change(record, "here")).SerializeToString()


@THOROUGH
@given(key=keys_of(SUBJECTS["config"]), value=st.none() | texts())
def test_a_change_that_is_read_can_be_shown(key: bytes, value: bytes | None) -> None:
    try:
        change = read_change(Record(key, value), "here")
    except MalformedError:
        return
    past_message(change).SerializeToString()
    for fact in (change.before, change.after):
        assert fact is None or json.dumps(json.loads(fact)).encode()


@THOROUGH
@given(data=st.data())
def test_after_every_assignment_another_generation_can_follow(data: st.DataObject) -> None:
    subject = SUBJECTS["scheduler"]
    reader, state = LogRecordReader(subject.codec, "t"), subject.initial
    for entry in data.draw(entries(subject)):
        _, state = reader.step(subject.evolve, state, entry)
    assert highest_generation(state) < INT64_MAX
