"""One round: numbers are fed, somebody is struck while they flow, and what became of them is counted."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
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
from tools.spark_rounds.flows import EXACTLY_ONCE, FLOWS, PARTITIONS, Flow
from tools.spark_rounds.victims import ANSWER_SECONDS, VICTIMS

#: What a driver commits takes about that long.
MOST_DELAY_SECONDS: Final = 1.5
#: Until a coordinator that was away has ended its transactions, and a new driver is up.
AGAIN_SECONDS: Final = 200.0
WORKERS: Final = 2
TOPIC_SECONDS: Final = 60.0
#: Hosts of tasks are not what is struck: they need no JVM here.
PLAIN_HOSTS: Final = Path(__file__).parents[2] / "tests" / "plain_hosts" / "path"


@contextmanager
def running(folder: Path, kind: str) -> Iterator[Flow]:
    """Run a system with one connector, through which the numbers of one round have flowed."""
    with EmbeddedKafka(folder / "kafka", free_ports(1)[0]) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        made = admin.create_topics([NewTopic(f"in-{kind}", PARTITIONS, 1)])
        made[f"in-{kind}"].result(TOPIC_SECONDS)
        (folder / "lake").mkdir()
        with CountedSystem(
            broker,
            folder,
            [kind],
            1,
            settings={**SETTINGS, **SHORT_LIVED_DRIVERS},
            plugins=[PLAIN_HOSTS],
            executors=WORKERS,
        ) as system:
            flow = FLOWS[kind](system)
            flow.feed()
            config = {key: text.format(folder=folder) for key, text in flow.config.items()}
            system.ask("PUT", f"/connectors/{kind}/config", {**EXACTLY_ONCE, **config})
            wait(flow.has_all, ANSWER_SECONDS, "no numbers flow")
            yield flow


def rounds(flow: Flow, count: int, random: Random) -> Iterator[Outcome]:
    """Run so many rounds, every victim before any is struck again."""
    victims = itertools.chain.from_iterable(
        random.sample(list(VICTIMS), len(VICTIMS)) for _ in itertools.count()
    )
    return (run(flow, victim, random) for victim in itertools.islice(victims, count))


def run(flow: Flow, victim: str, random: Random) -> Outcome:
    """Feed, strike, and wait until all has arrived; a connector that is stuck is restarted."""
    before, system = flow.tally(), flow.system
    flow.feed()
    stuck, forgotten = "", list[Forgotten]()
    left = flow.tally().lost
    wait(lambda: flow.tally().lost < left, ANSWER_SECONDS, "no numbers flow")
    time.sleep(random.uniform(0, MOST_DELAY_SECONDS))  # the point at which it strikes is drawn by lot
    moment = "while records flow" if not flow.has_all() else "when all had arrived"
    began = time.monotonic()
    try:
        VICTIMS[victim](system, random)
        try:
            wait(flow.has_all, AGAIN_SECONDS, "numbers are missing")
        except TimeoutError:
            topics = (*INTERNAL_TOPICS, flow.name)
            forgotten = abort_forgotten(system.broker.bootstrap, topics)
            wait(flow.has_all, AGAIN_SECONDS if forgotten else 0, "numbers are missing")
        wait(system.whole, AGAIN_SECONDS, "a service stayed away")
    except TimeoutError as error:
        stuck = "\n".join([str(error), *system.failures()])
        system.ask("POST", f"/connectors/{flow.name}/restart?includeTasks=true")
        wait(flow.has_all, AGAIN_SECONDS, "numbers do not flow after a restart either")
    seconds = time.monotonic() - began
    return Outcome(Case(victim, moment), seconds, {flow.name: flow.tally().since(before)}, stuck, forgotten)


def end(flow: Flow) -> Tally:
    """Stop the connector in good order; returns what that lost or repeated."""
    before, system = flow.tally(), flow.system
    system.ask("PUT", f"/connectors/{flow.name}/stop")
    wait(lambda: not _runs(system), AGAIN_SECONDS, "a task did not end")
    wait(system.reader.at_end, AGAIN_SECONDS, "the topic could not be read to its end")
    return flow.tally().since(before)


def _runs(system: CountedSystem) -> bool:
    return any("task" in each for worker in system.ask("GET", "/workers") for each in worker["held"])
