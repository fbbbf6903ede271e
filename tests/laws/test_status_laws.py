"""L1-L5 of the status service."""

from copycat_connect.cluster import Instance
from copycat_eventlog.decider import Decider
from copycat_eventlog.log import Record
from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.commands import (
    ForgetStatuses,
    Report,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
    StatusCommand,
)
from copycat_status.domain.decide import decide
from copycat_status.domain.events import (
    StatusEvent,
    StatusForgotten,
    StatusSet,
    TopicActive,
    TopicForgotten,
)
from copycat_status.domain.evolve import evolve
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import State, Status
from copycat_status.domain.views import list_instances
from copycat_testkit.laws import Subject, service_laws
from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "a-0", "topic-b", "ünï\n:/"])
TASKS = st.integers(0, 2)
INSTANCES = st.builds(Instance, NAMES, st.none() | TASKS)
STATUSES = st.builds(
    Status,
    st.sampled_from(State),
    st.sampled_from(["127.0.0.1:1", "127.0.0.1:2"]),
    st.integers(0, 3),
    st.none() | st.sampled_from(["java.lang.Exception: no\n\tat all", ""]),
    st.none() | st.just("4.3.1"),
)
TOPICS = st.sampled_from(["t", "connector-t", "t_1.x"])


def commands() -> st.SearchStrategy[StatusCommand]:
    """Every kind of command."""
    return st.one_of(
        st.builds(ReportStatuses, st.lists(st.builds(Report, INSTANCES, STATUSES), max_size=4).map(tuple)),
        st.builds(ReportTopics, NAMES, TASKS, st.lists(TOPICS, max_size=3).map(tuple), st.integers(0, 2**62)),
        st.builds(ForgetStatuses, NAMES, st.lists(TASKS, max_size=2).map(tuple)),
        st.builds(ResetTopics, NAMES),
    )


def events() -> st.SearchStrategy[StatusEvent]:
    """Every kind of event."""
    return st.one_of(
        st.builds(StatusSet, INSTANCES, STATUSES),
        st.builds(StatusForgotten, INSTANCES),
        st.builds(TopicActive, TOPICS, NAMES, TASKS, st.integers(0, 2**62)),
        st.builds(TopicForgotten, TOPICS, NAMES),
    )


def equivalent(whole: StatusState, compacted: StatusState) -> bool:
    """Nothing may differ but a task that one side takes for running and the other for unassigned.

    Kafka's reader ignores a late UNASSIGNED beside RUNNING, and compaction may take that RUNNING away.
    Decisions write no such record; others may have.
    """
    mine, theirs = dict(list_instances(whole)), dict(list_instances(compacted))
    guarded = {State.RUNNING, State.UNASSIGNED}
    differ = {instance for instance in mine if mine[instance] != theirs.get(instance)}
    return (
        mine.keys() == theirs.keys()
        and all(task is not None for _, task in differ)
        and all({mine[instance].state, theirs[instance].state} == guarded for instance in differ)
        and {name: facts.topics for name, facts in whole.connectors.items()}
        == {name: facts.topics for name, facts in compacted.connectors.items()}
    )


RUNNING = Status(State.RUNNING, "127.0.0.1:18083", 22, version="4.3.1")
GOLDEN = [
    (
        Record(
            b"status-connector-probe-file",
            b'{"state":"RUNNING","trace":null,"worker_id":"127.0.0.1:18083","generation":22,"version":"4.3.1"}',
        ),
        StatusSet(Instance("probe-file"), RUNNING),
    ),
    (
        Record(
            b"status-topic-probe-out:connector-probe-file",
            b'{"topic":{"name":"probe-out","connector":"probe-file","task":0,"discoverTimestamp":1795269884473}}',
        ),
        TopicActive("probe-out", "probe-file", 0, 1795269884473),
    ),
    (Record(b"status-task-probe-file-0", None), StatusForgotten(Instance("probe-file", 0))),
]

TestStatusLaws = service_laws(
    Subject(
        decider=Decider(StatusState(), decide, evolve),
        codec=StatusCodec(),
        commands=commands(),
        events=events(),
        golden=GOLDEN,
        partitions=5,
        equivalent=equivalent,
    )
)
