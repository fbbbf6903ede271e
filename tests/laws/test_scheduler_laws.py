"""L1-L5 for the scheduler service."""

from copycat_connect.cluster import Instance, TopicPartition
from copycat_eventlog.decider import Decider
from copycat_eventlog.log import Record
from copycat_scheduler.adapters.codec import SchedulerCodec
from copycat_scheduler.domain.commands import DesiredConnector, Reschedule
from copycat_scheduler.domain.decide import decide
from copycat_scheduler.domain.events import Assigned, Unassigned
from copycat_scheduler.domain.evolve import evolve
from copycat_scheduler.domain.state import SchedulerState
from copycat_testkit.laws import Subject, service_laws
from hypothesis import strategies as st

NAMES = st.sampled_from(["orders", "größe", "a,b"])
WORKERS = st.sampled_from(["w1", "w2", "w3"])
INSTANCES = st.builds(Instance, NAMES, st.none() | st.integers(0, 3))
PARTITIONS = st.lists(
    st.builds(TopicPartition, st.sampled_from("st"), st.integers(0, 3)), max_size=4, unique=True
).map(lambda found: tuple(sorted(found)))


@st.composite
def _worlds(draw: st.DrawFn) -> Reschedule:
    desired = st.builds(DesiredConnector, st.integers(0, 4), st.none() | PARTITIONS)
    workers = draw(st.sets(WORKERS))
    return Reschedule(
        desired=draw(st.dictionaries(NAMES, desired)),
        workers=workers,
        absent=draw(st.sets(WORKERS)) - workers,
        held=draw(st.dictionaries(INSTANCES, st.sets(WORKERS))),
        former=draw(st.dictionaries(INSTANCES, WORKERS)),
        generation=draw(st.integers(1, 1000)),
    )


TestSchedulerLaws = service_laws(
    Subject(
        decider=Decider(SchedulerState(), decide, evolve),
        codec=SchedulerCodec(),
        commands=_worlds(),
        events=st.builds(Assigned, INSTANCES, WORKERS, st.integers(0, 2**62), PARTITIONS)
        | st.builds(Unassigned, INSTANCES),
        golden=(
            (
                Record(b'["orders",0]', b'{"worker":"h:1","generation":7,"partitions":[["t",0],["t",2]]}'),
                Assigned(Instance("orders", 0), "h:1", 7, (TopicPartition("t", 0), TopicPartition("t", 2))),
            ),
            (
                Record('["größe"]'.encode(), b'{"worker":"h:1","generation":8,"partitions":[]}'),
                Assigned(Instance("größe"), "h:1", 8),
            ),
            (Record(b'["orders",0]', None), Unassigned(Instance("orders", 0))),
        ),
    )
)
