"""The chain of transformations."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from copycat_connect.data import ConnectRecord, MapColumns, Schema, SinkRecord, SourceBatch
from copycat_connect.data.schema import ConnectValue
from copycat_connect.errors import ConnectError, DataError, RetriableError
from copycat_connect.plugin import Predicate, Transformation
from copycat_connect.plugin.transformations import Remaining, Values
from copycat_executor.pipeline.records.chain import Chain, ChainStep, ChangedValues
from copycat_executor.pipeline.records.tolerate import ErrorPolicy, Tolerance
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.source.source_offsets import SourceProgress
from copycat_executor.pipeline.task.topic_ledger import TopicLedger
from copycat_json.converter import JsonConverter

from tests.unit.pipeline.fakes import (
    FakeMessage,
    FakeSender,
    Reports,
    source_path,
    text_converters,
    tolerance,
)

RETRIES = ErrorPolicy(retry_timeout=10.0)
ALL = ErrorPolicy(tolerate_all=True)


class Add(Transformation):
    """Appends to text, with its records or without, and remembers how; refuses `refuse` in the end."""

    def __init__(self, text: str, *, columns: bool = True) -> None:
        self.text = text
        self.columns = columns
        self.calls: list[str] = []

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:  # type: ignore[override]
        self.calls.append("record")
        if record.value.startswith("refuse"):
            raise DataError("refused")
        return record.replace(value=record.value + self.text)

    def apply_to_values(self, schema: Schema | None, values: list[ConnectValue]) -> Values | Remaining | None:
        self.calls.append("values")
        if not self.columns:
            return None
        for place, value in enumerate(values):
            if value.startswith("refuse"):
                raise DataError("refused")
            values[place] = value + self.text
        return schema, values


class Count(Transformation):
    """Counts in a map; away on its first call, when it has already changed the map."""

    def __init__(self, *, away: bool = False) -> None:
        self.away = away

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:  # type: ignore[override]
        return self.apply_in_place(record.replace(value=dict(record.value)))

    def apply_in_place(self, record: ConnectRecord) -> ConnectRecord | None:  # type: ignore[override]
        record.value["count"] = record.value.get("count", 0) + 1
        if self.away:
            self.away = False
            raise RetriableError("away")
        return record


class Drop(Add):
    """Drops `drop` and, like all of its kind, appends to the others; refuses nothing."""

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:  # type: ignore[override]
        return None if record.value == "drop" else super().apply(record)

    def apply_to_values(self, schema: Schema | None, values: list[ConnectValue]) -> Values | Remaining | None:
        self.calls.append("values")
        places = [place for place, value in enumerate(values) if not value.startswith("drop")]
        return Remaining(schema, [values[place] + self.text for place in places], places)


class DropFirst(Add):
    """Drops the first value."""

    def __init__(self) -> None:
        super().__init__("")

    def apply_to_values(self, schema: Schema | None, values: list[ConnectValue]) -> Values | Remaining | None:
        return Remaining(schema, values[1:], list(range(1, len(values))))


class Always(Predicate):
    """Holds for every record."""

    def test(self, record: ConnectRecord) -> bool:
        return True


def delivered(batch: SourceBatch, *steps: Transformation, handler: Tolerance | None = None) -> FakeSender:
    chosen, sender = handler or tolerance(), FakeSender()
    chain = Chain([ChainStep(step, type(step).__name__) for step in steps], chosen)
    source_path(chain, sender, SourceProgress(), TopicLedger(), chosen).deliver(batch)
    return sender


def read(*steps: Transformation, values: list[bytes], handler: Tolerance | None = None) -> list[ConnectValue]:
    chosen = handler or tolerance()
    chain = Chain([ChainStep(step, type(step).__name__) for step in steps], chosen)
    decoder = Decoder(text_converters(), chain, chosen, TopicLedger())
    return decoder.batch([FakeMessage(place, value) for place, value in enumerate(values)]).values


def test_a_private_record_is_changed_in_place() -> None:
    record = SinkRecord("t", 0, 0, value={})
    chain = Chain([ChainStep(Count(), "Count"), ChainStep(Count(), "Count")], tolerance())

    assert chain.apply(record, record) is record
    assert record.value == {"count": 2}


def test_a_retried_step_sees_the_record_as_it_was() -> None:
    steps = [ChainStep(Count(), "Count"), ChainStep(Count(away=True), "Count")]

    result = Chain(steps, tolerance(RETRIES)).apply(SinkRecord("t", 0, 0, value={}), None)

    assert result is not None
    assert result.value == {"count": 2}


def test_the_task_and_its_reports_keep_the_record_as_it_was() -> None:
    value: dict[str, ConnectValue] = {}
    reports = Reports()
    batch = SourceBatch("t", [value], source_partition={}, source_offset={})

    delivered(batch, Count(), handler=tolerance(ALL, reports))  # a map is no text: its converter fails

    assert value == {}
    assert [each.original.value for each in reports.failed] == [{}]  # type: ignore[attr-defined]


@pytest.mark.parametrize("utf8", [True, False])
def test_values_alone_go_through_steps_that_need_no_more(utf8: bool) -> None:
    first, second = Add("1"), Add("2")
    values: list[ConnectValue] = [b"a", b"b"] if utf8 else ["a", "b"]

    sender = delivered(SourceBatch("t", values, utf8=utf8), first, second)

    assert sender.values == [b"a12", b"b12"]
    assert (first.calls, second.calls, sender.columns) == (["values"], ["values"], 1)
    assert values == ([b"a", b"b"] if utf8 else ["a", "b"])


@pytest.mark.parametrize("run", [
    lambda steps: delivered(SourceBatch("t", ["a", "b"]), *steps).values,
    lambda steps: [value.encode() for value in read(*steps, values=[b"a", b"b"])],
])  # fmt: skip
def test_from_the_first_step_that_needs_records_on_they_are_there(
    run: Callable[[list[Add]], list[bytes]],
) -> None:
    steps = [Add("1"), Add("2", columns=False), Add("3")]

    assert run(steps) == [b"a123", b"b123"]
    assert [step.calls for step in steps] == [["values"], ["values", "record", "record"], ["record"] * 2]


def test_a_failure_in_a_column_is_found_record_by_record_from_the_start() -> None:
    reports = Reports()
    batch = SourceBatch("t", ["a", "refuse", "b"])

    sender = delivered(batch, Add("1"), handler=tolerance(ALL, reports))

    assert sender.values == [b"a1", b"b1"]
    assert [each.original.value for each in reports.failed] == ["refuse"]  # type: ignore[attr-defined]


def test_a_message_that_fails_in_a_column_is_left_out_alone() -> None:
    reports = Reports()

    values = read(Add("1"), values=[b"a", b"refuse", b"b"], handler=tolerance(ALL, reports))

    assert values == ["a1", "b1"]
    assert [each.original.offset() for each in reports.failed] == [1]  # type: ignore[attr-defined]


def test_a_predicate_needs_the_records() -> None:
    step = Add("1")
    chain = Chain([ChainStep(step, "Add", Always())], tolerance())

    assert chain.apply_to_values(None, ["a"]) == ChangedValues(None, ["a"], 0)
    assert step.calls == []


class Mark(Transformation):
    """Adds a field to maps: to columns unless forbidden, which it counts; refuses a map with `refuse`."""

    def __init__(self, name: str, *, columns: bool = True) -> None:
        self.name = name
        self.columns = columns
        self.asked = 0

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:  # type: ignore[override]
        if "refuse" in record.value.values():
            raise DataError("refused")
        return record.replace(value={**record.value, self.name: 1})

    def apply_to_columns(self, columns: MapColumns) -> MapColumns | None:
        self.asked += 1
        if any("refuse" in column for column in columns.columns.values()):
            raise DataError("refused")
        if not self.columns:
            return None
        return columns.with_columns({**columns.columns, self.name: [1] * len(columns)})


def test_maps_with_the_same_keys_stay_columns_through_the_chain() -> None:
    chain = Chain([ChainStep(Mark("b"), "Mark"), ChainStep(Mark("c"), "Mark")], tolerance())

    changed = chain.apply_to_values(None, columns_of({"a": 0}, {"a": 1}))

    assert (changed.done, changed.schema) == (2, None)
    assert isinstance(changed.values, MapColumns)
    assert [*changed.values] == [{"a": 0, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 1}]


def test_a_chain_that_must_leave_columns_once_begins_with_maps_from_then_on() -> None:
    first, second = Mark("b"), Mark("c", columns=False)
    chain = Chain([ChainStep(first, "Mark"), ChainStep(second, "Mark")], tolerance())

    changed = chain.apply_to_values(None, columns_of({"a": 0}))
    again = chain.apply_to_values(None, columns_of({"a": 0}))

    assert (changed.done, changed.values) == (1, [{"a": 0, "b": 1}])
    assert (again.done, again.values) == (0, [{"a": 0}])
    assert (first.asked, second.asked) == (1, 1)


def test_a_step_that_loses_a_column_s_values_is_refused() -> None:
    class Lose(Mark):
        def apply_to_columns(self, columns: MapColumns) -> MapColumns | None:
            return MapColumns({}, len(columns) - 1)

    with pytest.raises(ConnectError, match="Lose made 1 values of 2"):
        Chain([ChainStep(Lose("b"), "Lose")], tolerance()).apply_to_values(None, columns_of({}, {}))


def test_a_map_that_fails_in_a_column_is_left_out_alone() -> None:
    reports = Reports()
    json = JsonConverter()
    json.configure({"schemas.enable": "false"})
    chosen = tolerance(ALL, reports)
    chain = Chain([ChainStep(Mark("b"), "Mark"), ChainStep(Mark("c"), "Mark")], chosen)
    decoder = Decoder(replace(text_converters(), value=json), chain, chosen, TopicLedger())
    datas = [b'{"a":"x"}', b'{"a":"refuse"}', b'{"a":"y"}']

    batch = decoder.batch([FakeMessage(place, data) for place, data in enumerate(datas)])

    assert batch.values == [{"a": "x", "b": 1, "c": 1}, {"a": "y", "b": 1, "c": 1}]
    assert [record.offset for record in batch] == [0, 2]
    assert [each.original.offset() for each in reports.failed] == [1]  # type: ignore[attr-defined]


def columns_of(*maps: ConnectValue) -> MapColumns:
    columns = MapColumns.of([*maps])
    assert columns is not None
    return columns


def test_a_step_that_loses_a_value_is_refused() -> None:
    class Lose(Add):
        def apply_to_values(
            self, schema: Schema | None, values: list[ConnectValue]
        ) -> Values | Remaining | None:
            return schema, values[1:]

    with pytest.raises(ConnectError, match="Lose made 1 values of 2"):
        Chain([ChainStep(Lose(""), "Lose")], tolerance()).apply_to_values(None, ["a", "b"])


def test_a_step_may_drop_values_and_keys_go_with_them() -> None:
    first, second = Drop("1"), Drop("2")
    batch = SourceBatch("t", ["a", "drop", "b"], keys=["x", "y", "z"])

    sender = delivered(batch, first, Add("drop"), second)

    sent = [(record.key, record.value) for record in sender.records]
    assert (sent, sender.columns) == ([(b"x", b"a1drop2"), (b"z", b"b1drop2")], 1)
    assert (first.calls, second.calls) == (["values"], ["values"])


def test_places_are_those_of_the_values_given_at_first() -> None:
    chain = Chain([ChainStep(Drop(""), "Drop"), ChainStep(DropFirst(), "DropFirst")], tolerance())

    changed = chain.apply_to_values(None, ["drop", "a", "b", "drop", "c"])

    assert changed == ChangedValues(None, ["b", "c"], 2, [2, 4])


@pytest.mark.parametrize("run", [
    lambda steps: delivered(SourceBatch("t", ["drop", "a", "b"]), *steps).values,
    lambda steps: [value.encode() for value in read(*steps, values=[b"drop", b"a", b"b"])],
])  # fmt: skip
def test_what_a_step_left_goes_on_as_records(run: Callable[[list[Add]], list[bytes]]) -> None:
    steps = [Drop("1"), Add("2", columns=False)]

    assert run(steps) == [b"a12", b"b12"]
    assert [step.calls for step in steps] == [["values"], ["values", "record", "record"]]


def test_messages_are_dropped_and_the_others_keep_their_places() -> None:
    decoder = Decoder(
        text_converters(), Chain([ChainStep(Drop("1"), "Drop")], tolerance()), tolerance(), TopicLedger()
    )

    batch = decoder.batch([FakeMessage(place, value) for place, value in enumerate((b"drop", b"a", b"b"))])

    assert [(record.offset, record.value) for record in batch] == [(1, "a1"), (2, "b1")]
