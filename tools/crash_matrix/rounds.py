"""One round: something goes wrong at some moment, records flow again, and what became of them is counted."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from copycat_testkit.arrivals import Tally
from copycat_testkit.eventually import wait

from tools.crash_matrix.faults import FAULTS, FORCE, HANDS, MOMENTS
from tools.crash_matrix.forgotten import Forgotten, abort_forgotten
from tools.crash_matrix.system import INTERNAL_TOPICS, System

#: Between what is done before and the fault: starts, drains and fencing take about that long.
MOST_DELAY_SECONDS: Final = 1.5
AGAIN_SECONDS: Final = 60.0
#: What is killed by the end of something else, as a task host by that of its JVM, writes for a moment more.
LAST_WORDS_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Case:
    """What goes wrong, and when."""

    fault: str
    moment: str

    def __str__(self) -> str:
        """Return it as the report says it."""
        return f"{self.fault} {self.moment}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case."""

    case: Case
    seconds: float
    """From the strike until every partition had new records and every service answered."""
    tallies: Mapping[str, Tally]
    """What was lost and repeated in this round, by connector."""
    stuck: str = ""
    """Why records did not flow again; empty when they did."""
    forgotten: Sequence[Forgotten] = ()
    """Transactions that Kafka forgot when it was killed, and that an operator has to end."""


def cases(random: Random) -> Iterator[Case]:
    """Yield every case in a drawn order, again and again; what people do strikes at one moment only."""
    first = next(iter(MOMENTS))
    every = [Case(fault, moment) for fault in FORCE for moment in MOMENTS]
    every += [Case(fault, first) for fault in HANDS]
    while True:
        yield from random.sample(every, len(every))


def run(system: System, case: Case, random: Random) -> Outcome:
    """Have it happen, and wait until the system is whole again."""
    before = {kind: system.count(kind) for kind in system.kinds}
    stuck, forgotten = "", list[Forgotten]()
    MOMENTS[case.moment](system, random)
    time.sleep(random.uniform(0, MOST_DELAY_SECONDS))  # the point at which it strikes is drawn by lot
    began = time.monotonic()
    FAULTS[case.fault](system, random)
    moment = time.time() + LAST_WORDS_SECONDS
    try:
        try:
            _wait_whole(system, moment)
        except TimeoutError:
            forgotten = abort_forgotten(system.broker.bootstrap, (*INTERNAL_TOPICS, *system.sources))
            _wait_whole(system, moment)
    except TimeoutError as error:
        stuck = "\n".join([str(error), *system.failures()])
        heal(system)
    seconds = time.monotonic() - began
    tallies = {kind: system.count(kind).since(before[kind]) for kind in system.kinds}
    return Outcome(case, seconds, tallies, stuck, forgotten)


def _wait_whole(system: System, moment: float) -> None:
    wait(lambda: system.flows_since(moment), AGAIN_SECONDS, "records did not flow again")
    wait(system.whole, AGAIN_SECONDS, "a service stayed away")


def heal(system: System) -> None:
    """Do what an operator would, so that further rounds can be counted."""
    for kind in system.kinds:
        system.ask("POST", f"/connectors/{kind}/restart?includeTasks=true")
    moment = time.time()
    wait(lambda: system.flows_since(moment), AGAIN_SECONDS, "records do not flow after a restart either")


def end(system: System) -> Mapping[str, Tally]:
    """Stop everything; what is committed and never arrived is lost, the reverse would be repeated."""
    system.finish()
    last = {}
    for kind in system.kinds:
        committed = system.offsets(kind)
        arrived = [each.highest for each in system.arrived(kind)]
        gaps = [committed.get(number, 0) - highest for number, highest in enumerate(arrived)]
        last[kind] = Tally(sum(max(gap, 0) for gap in gaps), sum(max(-gap, 0) for gap in gaps))
    return last


def matrix(system: System, count: int, random: Random) -> Iterator[Outcome]:
    """Run so many rounds."""
    return (run(system, case, random) for case in itertools.islice(cases(random), count))
