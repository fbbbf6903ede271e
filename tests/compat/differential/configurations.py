"""Configurations of every transformation and predicate, for generated cases."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from tests.compat.differential.generated import FIELDS

Configs = st.SearchStrategy[dict[str, str]]
TRANSFORMS: Final = "org.apache.kafka.connect.transforms"

_field = st.sampled_from((*FIELDS, "missing"))
_path = st.sampled_from((*FIELDS, "missing", "a.b", "`a`.b", "a.b.c"))
_fields = st.lists(_field, min_size=1, max_size=3, unique=True).map(",".join)
_nulls = st.sampled_from(({}, {"replace.null.with.default": "false"}))
_types = st.sampled_from(
    ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "INT32", "bytes", "date")
)
_pairs = st.tuples(_field, _types).map(":".join)
_renames = st.lists(
    st.tuples(_field, st.sampled_from(("a", "z", "y"))).map(":".join), max_size=2, unique=True
).map(",".join)


def _all(**keys: st.SearchStrategy[str]) -> Configs:
    named = {name.replace("_", "."): values for name, values in keys.items()}
    return st.tuples(st.fixed_dictionaries(named), _nulls).map(lambda found: found[0] | found[1])


@st.composite
def _some(draw: st.DrawFn, /, **keys: st.SearchStrategy[str]) -> dict[str, str]:
    wanted = draw(st.lists(st.sampled_from(sorted(keys)), unique=True))
    return {name.replace("_", "."): draw(keys[name]) for name in wanted} | draw(_nulls)


@st.composite
def _moves(draw: st.DrawFn) -> dict[str, str]:
    fields = draw(st.lists(_field, min_size=1, max_size=2, unique=True))
    headers = draw(st.lists(st.sampled_from(("h", "x")), min_size=1, max_size=2))
    operation = draw(st.sampled_from(("move", "copy", "COPY")))
    return {"fields": ",".join(fields), "headers": ",".join(headers), "operation": operation}


_words = st.sampled_from(("x", "at?", "at!", "a"))
BOTH_SIDES: Final[dict[str, Configs]] = {
    "Cast": _all(spec=_types | st.lists(_pairs, min_size=1, max_size=2).map(",".join)),
    "ExtractField": _all(
        field=_path,
        field_syntax_version=st.sampled_from(("V1", "V2")),
    ),
    "Flatten": st.sampled_from(({}, {"delimiter": "_"}, {"delimiter": ""})),
    "HeaderFrom": _moves(),
    "HoistField": _all(field=_field),
    "InsertField": _some(
        topic_field=_words,
        partition_field=_words,
        offset_field=_words,
        timestamp_field=_words,
        static_field=_words,
        static_value=_words,
    ),
    "MaskField": _some(fields=_fields, replacement=st.sampled_from(("", "x", "7", "2.5"))),
    "ReplaceField": _some(exclude=_fields, include=_fields, renames=_renames),
    "SetSchemaMetadata": _some(schema_name=_words, schema_version=st.sampled_from(("1", "x"))),
    "TimestampConverter": _some(
        field=_field,
        target_type=st.sampled_from(("string", "unix", "Date", "Time", "Timestamp", "date")),
        format=st.sampled_from(("yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss.SSS", "EEE, d MMM yyyy", "'")),
        unix_precision=st.sampled_from(("seconds", "milliseconds", "microseconds", "nanoseconds")),
    ),
}
ONE_SIDE: Final[dict[str, Configs]] = {
    "DropHeaders": _all(headers=st.sampled_from(("h", "h,x", "trace", ""))),
    "Filter": st.just({}),
    "InsertHeader": _all(
        header=st.sampled_from(("h", "new")),
        value_literal=st.sampled_from(("1", "300", "70000", "true", "text", "null", "2.5", "")),
    ),
    "RegexRouter": _all(
        regex=st.sampled_from(("(.*)-raw", "o.*", r"(\w)\.(\w)\.(\w)", "a|ab", "(", "t")),
        replacement=st.sampled_from(("$1", "x", "$1-$2", "", r"\$1")),
    ),
    "TimestampRouter": _some(
        topic_format=st.sampled_from(("${topic}-${timestamp}", "x", "${timestamp}${timestamp}")),
        timestamp_format=st.sampled_from(("yyyyMMdd", "HH:mm:ss.SSS", "EEEE MMMM", "DDD", "z")),
    ),
    "ValueToKey": _all(
        fields=st.lists(_path, min_size=1, max_size=3, unique=True).map(",".join),
        field_syntax_version=st.sampled_from(("V1", "V2")),
    ),
    "predicates.HasHeaderKey": _all(name=st.sampled_from(("h", "H", "trace", ""))),
    "predicates.RecordIsTombstone": st.just({}),
    "predicates.TopicNameMatches": _all(
        pattern=st.sampled_from(("orders", "o.*", "[", "", r"a\.b\..", ".*w"))
    ),
}
#: Class name of each -> what it may be configured with.
CONFIGURATIONS: Final[dict[str, Configs]] = {
    f"{TRANSFORMS}.{name}${side}": configs
    for name, configs in BOTH_SIDES.items()
    for side in ("Key", "Value")
} | {f"{TRANSFORMS}.{name}": configs for name, configs in ONE_SIDE.items()}
