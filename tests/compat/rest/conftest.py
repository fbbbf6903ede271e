"""One broker and both systems, and what each answered to the script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.system import CopycatUp

from tests.compat.rest.play import System, play
from tests.compat.rest.script import STEPS
from tests.compat.rest.step import Answer

THEIR_GROUP = "their-workers"
OUR_GROUP = "our-workers"


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of both systems, by step."""

    theirs: Mapping[str, Answer]
    ours: Mapping[str, Answer]


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[System, System]]:
    """Start a broker, Apache Kafka Connect and Copycat."""
    folder = tmp_path_factory.mktemp("rest")
    provider = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    both = {
        "offset.flush.interval.ms": "1000",
        "config.providers": "env",
        "config.providers.env.class": provider,
    }
    settings = {"group.id": OUR_GROUP, **both}
    with EmbeddedKafka(folder / "kafka") as kafka:
        options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        theirs = ConnectPeer(
            kafka.bootstrap,
            folder / "connect",
            group=THEIR_GROUP,
            properties=both,
            jars=("connect", "mirror"),
        )
        with theirs, CopycatUp(folder / "copycat", kafka.bootstrap, options=options) as ours:
            yield (
                System(theirs.url, "by-theirs", THEIR_GROUP, folder / "their-files"),
                System(ours.url, "by-ours", OUR_GROUP, folder / "our-files"),
            )


@pytest.fixture(scope="module")
def answers(systems: tuple[System, System]) -> Answers:
    """Play the script against both at once."""
    with ThreadPoolExecutor() as players:
        theirs, ours = players.map(lambda system: play(system, STEPS), systems)
    return Answers(theirs, ours)
