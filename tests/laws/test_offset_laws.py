"""L1-L5 for the offset service."""

import json

from copycat_eventlog.decider import Decider
from copycat_eventlog.log import Record
from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets
from copycat_offset.domain.decide import decide
from copycat_offset.domain.events import SourceOffsetCommitted, SourceOffsetForgotten
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.state import OffsetState
from copycat_testkit.laws import Subject, service_laws
from hypothesis import strategies as st

NAMES = st.sampled_from(["orders", "größe", 'a"b,c'])
PRIMITIVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
MAPS = st.dictionaries(
    st.text(max_size=5), PRIMITIVES.filter(lambda v: v not in (float("inf"), -float("inf"))), max_size=3
)
TEXTS = MAPS.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
PARTITIONS = st.sampled_from(
    [b'{"file":"a"}', '{"file":"ä","n":1.0}'.encode(), b'{"n":1.0,"file":"a"}', b"null"]
)
OFFSETS = st.dictionaries(
    PARTITIONS | TEXTS, st.none() | st.just(b"null") | TEXTS | st.just(b'{"a":[]}'), max_size=3
)

TestOffsetLaws = service_laws(
    Subject(
        decider=Decider(OffsetState(), decide, evolve),
        codec=OffsetCodec(),
        commands=st.builds(
            CommitSourceOffsets,
            NAMES,
            st.integers(0, 3),
            st.integers(0, 5),
            st.none() | st.integers(0, 5),
            OFFSETS,
        )
        | st.builds(AlterSourceOffsets, NAMES, OFFSETS),
        events=st.builds(SourceOffsetCommitted, NAMES, PARTITIONS | TEXTS, TEXTS)
        | st.builds(SourceOffsetForgotten, NAMES, PARTITIONS | TEXTS),
        partitions=25,
        golden=(
            (
                Record(b'["local-file-source",{"filename":"test.txt"}]', b'{"position":57}'),
                SourceOffsetCommitted("local-file-source", b'{"filename":"test.txt"}', b'{"position":57}'),
            ),
            (
                Record(b'["local-file-source",{"filename":"test.txt"}]', None),
                SourceOffsetForgotten("local-file-source", b'{"filename":"test.txt"}'),
            ),
            (
                Record('["größe",{"täble":"x","n":1.50}]'.encode(), b'{"lsn":9007199254740993}'),
                SourceOffsetCommitted(
                    "größe", '{"täble":"x","n":1.50}'.encode(), b'{"lsn":9007199254740993}'
                ),
            ),
        ),
    )
)
