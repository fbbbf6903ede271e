"""L1-L5 of the config service."""

from functools import reduce

from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.commands import (
    ConfigCommand,
    DeleteConnector,
    PutConnector,
    PutTaskConfigs,
    RecordFencing,
    SetTargetState,
)
from copycat_config.domain.decide import decide
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    LoggerLevelSet,
    RestartRequested,
    SessionKeySet,
    TargetStateForgotten,
    TargetStateSet,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.domain.evolve import evolve
from copycat_config.domain.state import ConfigState
from copycat_config.domain.views import ConnectorView, list_connectors
from copycat_connect.cluster import Config, TargetState
from copycat_connect.errors import CopycatError
from copycat_eventlog.decider import Decider
from copycat_eventlog.log import Record
from copycat_testkit.laws import Subject, service_laws
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "a-0", "state-b", "ünï\n/"])
# Few, so that task sets are often made from the configuration in force.
CONFIGS: st.SearchStrategy[Config] = st.sampled_from([{}, {"k\u00fc": "1", "none": None}, {"k\u00fc": "2"}])
COUNTS = st.integers(0, 3)
TARGETS = st.sampled_from(TargetState)


def commands() -> st.SearchStrategy[ConfigCommand]:
    """Commands but restart requests and log levels: each of those counts, so L5 exempts them."""
    return st.one_of(
        st.builds(PutConnector, NAMES, CONFIGS, st.none() | TARGETS, st.booleans(), st.booleans()),
        st.builds(DeleteConnector, NAMES),
        st.builds(SetTargetState, NAMES, TARGETS),
        st.builds(PutTaskConfigs, NAMES, st.lists(CONFIGS, max_size=3).map(tuple), CONFIGS),
        st.builds(RecordFencing, NAMES, COUNTS, st.none() | COUNTS),
    )


def events() -> st.SearchStrategy[ConfigEvent]:
    """Every kind of event."""
    return st.one_of(
        st.builds(ConnectorConfigured, NAMES, CONFIGS),
        st.builds(ConnectorRemoved, NAMES),
        st.builds(TargetStateSet, NAMES, TARGETS),
        st.builds(TargetStateForgotten, NAMES),
        st.builds(TaskConfigured, NAMES, COUNTS, CONFIGS),
        st.builds(TaskSetCommitted, NAMES, COUNTS),
        st.builds(RestartRequested, NAMES, st.booleans(), st.booleans()),
        st.builds(LoggerLevelSet, NAMES, st.sampled_from(["DEBUG", "ERROR"])),
        st.builds(TasksFenced, NAMES, COUNTS),
        st.builds(SessionKeySet, st.text("ab="), st.just("HmacSHA256"), st.integers(0, 2**63 - 1)),
    )


def equivalent(whole: ConfigState, compacted: ConfigState) -> bool:
    """Nothing but task sets may differ, and only where one side says that the set has to be made again.

    Task records close with a commit of another key, so compaction may tear a set apart: Kafka's reader rule.
    """
    mine, theirs = list_connectors(whole), list_connectors(compacted)
    return len(mine) == len(theirs) and all(map(_same_connector, mine, theirs))


def _same_connector(mine: ConnectorView, theirs: ConnectorView) -> bool:
    same = (mine.name, mine.config, mine.target) == (theirs.name, theirs.config, theirs.target)
    return same and (mine.tasks == theirs.tasks or _made_again(mine) or _made_again(theirs))


def _made_again(view: ConnectorView) -> bool:
    return view.inconsistent or view.tasks_outdated


GOLDEN = [
    (Record(b"connector-probe-file", None), ConnectorRemoved("probe-file")),
    (Record(b"commit-probe-file", b'{"tasks":1}'), TaskSetCommitted("probe-file", 1)),
    (
        Record(b"target-state-probe-init", b'{"state":"PAUSED","state.v2":"STOPPED"}'),
        TargetStateSet("probe-init", TargetState.STOPPED),
    ),
    (
        Record(
            b"task-probe-put-0",
            b'{"properties":{"task.class":"org.apache.kafka.connect.file.FileStreamSourceTask"}}',
        ),
        TaskConfigured("probe-put", 0, {"task.class": "org.apache.kafka.connect.file.FileStreamSourceTask"}),
    ),
    (
        Record(b"restart-connector-probe-bad", b'{"include-tasks":true,"only-failed":true}'),
        RestartRequested("probe-bad", include_tasks=True, only_failed=True),
    ),
    (Record(b"tasks-fencing-probe-eos-src", b'{"task-count":0}'), TasksFenced("probe-eos-src", 0)),
]

TestConfigLaws = service_laws(
    Subject(
        decider=Decider(ConfigState(), decide, evolve),
        codec=ConfigCodec(),
        commands=commands(),
        events=events(),
        golden=GOLDEN,
        equivalent=equivalent,
    )
)


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(commands(), max_size=20))
def test_a_task_set_that_compaction_tore_apart_is_always_made_again(
    given_commands: list[ConfigCommand],
) -> None:
    codec, records, state = ConfigCodec(), dict[bytes, Record](), ConfigState()
    for command in given_commands:
        for event in _decided(command, state):
            record = codec.encode(event)
            records.pop(record.key, None)
            records[record.key] = record
            state = evolve(state, event)

    compacted = reduce(evolve, (codec.decode(record) for record in records.values()), ConfigState())

    for mine, theirs in zip(list_connectors(state), list_connectors(compacted), strict=True):
        assert mine.tasks == theirs.tasks or _made_again(theirs)


def _decided(command: ConfigCommand, state: ConfigState) -> tuple[ConfigEvent, ...]:
    try:
        return decide(command, state)
    except CopycatError:
        return ()
