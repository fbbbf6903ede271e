"""L1-L5 for the offset service."""

import json

from copycat_eventlog.decider import Decider
from copycat_eventlog.json_text import MAX_TIME_MS
from copycat_eventlog.log import Record
from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.domain.changes import OffsetsChange, SinkMove, SourceMove
from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets, RememberChange
from copycat_offset.domain.decide import decide
from copycat_offset.domain.events import (
    ChangeForgotten,
    ChangeRemembered,
    SourceOffsetCommitted,
    SourceOffsetForgotten,
)
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

TIMES = st.integers(0, MAX_TIME_MS)
POSITIONS = st.none() | st.integers(0, 2**63 - 1)


def changes(texts: st.SearchStrategy[bytes]) -> st.SearchStrategy[OffsetsChange]:
    """Return changes of sources and sinks; `texts` are partitions and offsets."""
    return st.builds(
        OffsetsChange,
        NAMES,
        TIMES,
        st.booleans(),
        st.none() | TIMES,
        NAMES | st.just(""),
        st.lists(st.builds(SourceMove, texts, st.none() | texts, st.none() | texts), max_size=3).map(tuple),
        st.lists(st.builds(SinkMove, NAMES, st.integers(0, 9), POSITIONS, POSITIONS), max_size=3).map(tuple),
        st.booleans(),
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
        | st.builds(AlterSourceOffsets, NAMES, OFFSETS)
        | st.builds(RememberChange, changes(TEXTS | st.just(b'{"a":[]}'))),
        events=st.builds(SourceOffsetCommitted, NAMES, PARTITIONS | TEXTS, TEXTS)
        | st.builds(SourceOffsetForgotten, NAMES, PARTITIONS | TEXTS)
        | st.builds(ChangeRemembered, changes(TEXTS))
        | st.builds(ChangeForgotten, NAMES),
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
            (
                Record(
                    b'["\\u0000undo:local-file-source",null]',
                    b'{"changed_at":1795341600000,"reset":false,"undone_at":null,"group":"","source":'
                    b'[{"partition":"{\\"filename\\":\\"test.txt\\"}","before":"{\\"position\\":57}",'
                    b'"after":null}],"sink":[],"too_large":false}',
                ),
                ChangeRemembered(
                    OffsetsChange(
                        "local-file-source",
                        1795341600000,
                        reset=False,
                        source=(SourceMove(b'{"filename":"test.txt"}', b'{"position":57}', None),),
                    )
                ),
            ),
            (
                Record(
                    b'["\\u0000undo:files",null]',
                    b'{"changed_at":1795341600000,"reset":true,"undone_at":1795341660000,'
                    b'"group":"connect-files","source":[],"sink":'
                    b'[{"topic":"lines","partition":0,"before":57,"after":null}],"too_large":false}',
                ),
                ChangeRemembered(
                    OffsetsChange(
                        "files",
                        1795341600000,
                        reset=True,
                        undone_at=1795341660000,
                        group="connect-files",
                        sink=(SinkMove("lines", 0, 57, None),),
                    )
                ),
            ),
            (Record(b'["\\u0000undo:files",null]', None), ChangeForgotten("files")),
        ),
    )
)
