"""One round: numbers are fed, somebody is struck while they flow, and what became of them is counted."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.arrivals import Tally
from copycat_testkit.counted_system import CountedSystem
from copycat_testkit.eventually import wait
from copycat_testkit.system import SHORT_LIVED_DRIVERS

from tools.crash_matrix.forgotten import Forgotten, abort_forgotten
from tools.crash_matrix.rounds import Case, Outcome
from tools.crash_matrix.system import INTERNAL_TOPICS, SETTINGS
from tools.spark_rounds.flows import EXACTLY_ONCE, FLOWS, NUMBERS, PARTITIONS
from tools.spark_rounds.victims import ANSWER_SECONDS, VICTIMS

#: What a driver commits takes about that long.
MOST_DELAY_SECONDS: Final = 1.5
#: Until a coordinator that was away has ended its transactions, and new drivers are up, one after the other.
AGAIN_SECONDS: Final = 200.0
#: How often what has arrived is counted: a look reads a whole table.
LOOK_SECONDS: Final = 0.25
COMMIT_LOOK_SECONDS: Final = 0.005
WORKERS: Final = 2
TOPIC_SECONDS: Final = 60.0
#: Hosts of tasks are not what is struck: they need no JVM here.
PLAIN_HOSTS: Final = Path(__file__).parents[2] / "tests" / "plain_hosts" / "path"


class Flows:
    """What flows side by side through one system, by the names of the connectors."""

    def __init__(self, system: CountedSystem, kinds: Sequence[str]) -> None:
        """Begin each with the number 1."""
        self.system = system
        self.each = [FLOWS[kind](system) for kind in kinds]

    def feed(self) -> None:
        """Feed each the numbers of a round."""
        for flow in self.each:
            flow.feed()

    def tallies(self) -> dict[str, Tally]:
        """Return what is lost and repeated so far, by flow."""
        return {flow.name: flow.tally() for flow in self.each}

    def wait_for_all(self, seconds: float) -> None:
        """Wait until every number has arrived.

        Raises:
            TimeoutError: Some are missing; the text names their flows.
        """
        try:
            wait(lambda: not self.unfinished(), seconds, "numbers are missing", every=LOOK_SECONDS)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {', '.join(self.unfinished())}") from error

    def unfinished(self) -> list[str]:
        """Return the flows of which numbers have not arrived."""
        return [flow.name for flow in self.each if not flow.has_all()]

    def configure(self) -> None:
        """Create the connector of each flow, exactly once, or change its configuration."""
        for flow in self.each:
            config = {key: text.format(folder=self.system.folder) for key, text in flow.config.items()}
            self.system.ask("PUT", f"/connectors/{flow.name}/config", {**EXACTLY_ONCE, **config})


@contextmanager
def running(folder: Path, kinds: Sequence[str]) -> Iterator[Flows]:
    """Run a system with these connectors, through which the numbers of one round have flowed."""
    with EmbeddedKafka(folder / "kafka", free_ports(1)[0]) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        for made in admin.create_topics([NewTopic(f"in-{kind}", PARTITIONS, 1) for kind in kinds]).values():
            made.result(TOPIC_SECONDS)
        (folder / "lake").mkdir()
        with CountedSystem(
            broker,
            folder,
            kinds,
            1,
            settings={**SETTINGS, **SHORT_LIVED_DRIVERS},
            plugins=[PLAIN_HOSTS],
            executors=WORKERS,
        ) as system:
            flows = Flows(system, kinds)
            flows.feed()
            flows.configure()
            flows.wait_for_all(ANSWER_SECONDS)
            yield flows


def rounds(flows: Flows, count: int, random: Random) -> Iterator[Outcome]:
    """Run so many rounds, every victim before any is struck again."""
    victims = itertools.chain.from_iterable(
        random.sample(list(VICTIMS), len(VICTIMS)) for _ in itertools.count()
    )
    return (run(flows, victim, random) for victim in itertools.islice(victims, count))


def run(flows: Flows, victim: str, random: Random) -> Outcome:
    """Feed, strike, and wait until all has arrived; connectors that are stuck are restarted."""
    before, system = flows.tallies(), flows.system
    stuck, forgotten, began = "", list[Forgotten](), time.monotonic()
    moment = "before records flowed"
    try:
        moment = _strike_point(flows, random)
        began = time.monotonic()
        VICTIMS[victim](system, random)
        flows.wait_for_all(AGAIN_SECONDS)
        wait(system.whole, AGAIN_SECONDS, "a service stayed away")
    except TimeoutError as error:
        topics = (*INTERNAL_TOPICS, *(flow.name for flow in flows.each))
        forgotten = abort_forgotten(system.broker.bootstrap, topics)
        if not forgotten:
            stuck = "\n".join([str(error), *system.failures()])
            for flow in flows.each:
                system.ask("POST", f"/connectors/{flow.name}/restart?includeTasks=true")
        flows.wait_for_all(AGAIN_SECONDS)
    seconds = time.monotonic() - began
    tallies = {name: tally.since(before[name]) for name, tally in flows.tallies().items()}
    return Outcome(Case(victim, moment), seconds, tallies, stuck, forgotten)


def _strike_point(flows: Flows, random: Random) -> str:
    """Feed, and wait until a flow has committed some of it, or a moment longer; returns when that is."""
    first = random.choice(flows.each)
    left = first.tally().lost + NUMBERS
    flows.feed()
    flowing = f"no numbers flow ({first.name})"
    wait(lambda: first.tally().lost < left, ANSWER_SECONDS, flowing, every=COMMIT_LOOK_SECONDS)
    # At once is between the commits of two slots; otherwise the point at which it strikes is drawn by lot.
    delay = random.choice((0.0, random.uniform(0, MOST_DELAY_SECONDS)))
    time.sleep(delay)
    to_come = ", ".join(flows.unfinished()) or "nothing"
    return f"{delay:.1f} s after a commit of {first.name}, to come: {to_come}"


def end(flows: Flows) -> Mapping[str, Tally]:
    """Stop the connectors in good order; returns what that lost or repeated."""
    before, system = flows.tallies(), flows.system
    for flow in flows.each:
        system.ask("PUT", f"/connectors/{flow.name}/stop")
    wait(lambda: not _runs(system), AGAIN_SECONDS, "a task did not end")
    wait(system.reader.at_end, AGAIN_SECONDS, "the topics could not be read to their ends")
    return {name: tally.since(before[name]) for name, tally in flows.tallies().items()}


def _runs(system: CountedSystem) -> bool:
    return any("task" in each for worker in system.ask("GET", "/workers") for each in worker["held"])
