"""The embedded broker, real: it keeps its data, outlives no owner, and has all classes and verified jars."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import httpx2
import psutil
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.jars import ensure_jars
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import consume_all, create_topic, produce, unique, wait_until
from copycat_testkit.processes import lives

UTF8, CLASS, LONG, DOUBLE = 1, 7, 5, 6
#: Bytes of each kind of constant behind its tag; a text has its own length.
SIZES = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    17: 4,
    18: 4,
    19: 2,
    20: 2,
}
VERSIONED = "META-INF/versions/"
JAVA = ("java/", "javax/", "jdk/", "sun/", "com/sun/", "org/ietf/", "org/w3c/", "org/xml/")


def missing_packages(jars: Iterable[Path]) -> dict[str, set[str]]:
    """Return each package that classes refer to and that neither Java nor a jar has, with those classes."""
    present: set[str] = set()
    referred: dict[str, set[str]] = {}
    for jar in jars:
        for name, code in _classes(jar):
            present.add(name)
            for other in _references(code):
                referred.setdefault(other, set()).add(name)
    missing: dict[str, set[str]] = {}
    for name, users in referred.items():
        if "/" in name and name not in present and not name.startswith(JAVA):
            missing.setdefault(name.rpartition("/")[0].replace("/", "."), set()).update(users)
    return missing


def _classes(jar: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.namelist():
            if entry.endswith(".class"):
                path = entry.removesuffix(".class")
                if path.startswith(VERSIONED):
                    path = path.removeprefix(VERSIONED).partition("/")[2]
                yield path, archive.read(entry)


def _references(code: bytes) -> set[str]:
    count, place, number = struct.unpack_from(">H", code, 8)[0], 10, 1
    texts: dict[int, str] = {}
    classes: list[int] = []
    while number < count:
        tag = code[place]
        if tag == UTF8:
            end = place + 3 + int(struct.unpack_from(">H", code, place + 1)[0])
            texts[number] = code[place + 3 : end].decode("utf-8", "replace")
            place = end
        else:
            if tag == CLASS:
                classes.append(struct.unpack_from(">H", code, place + 1)[0])
            place += 1 + SIZES[tag]
        number += 2 if tag in {LONG, DOUBLE} else 1
    return {_element(texts[name]) for name in classes}


def _element(name: str) -> str:
    """Return the class itself, or that of an array's elements."""
    element = name.lstrip("[")
    return element[1:-1] if name.startswith("[") and element.endswith(";") else element


OWNER = """
import sys, threading
from pathlib import Path
from copycat_embedded.broker import EmbeddedKafka
broker = EmbeddedKafka(Path(sys.argv[1]))
broker.start()
print(broker.process_id, flush=True)
threading.Event().wait()
"""


@pytest.mark.long
def test_records_come_back_in_order(kafka: str) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"one", b"two", None])
    assert [message.value() for message in consume_all(kafka, topic)] == [b"one", b"two", None]


@pytest.mark.long
def test_a_second_start_finds_the_data_of_the_first(tmp_path: Path) -> None:
    broker = EmbeddedKafka(tmp_path)
    with broker:
        produce(broker.bootstrap, create_topic(broker.bootstrap, "kept"), [b"here"])
    with broker:
        assert [message.value() for message in consume_all(broker.bootstrap, "kept")] == [b"here"]


@pytest.mark.long
def test_a_stopped_broker_leaves_no_process(tmp_path: Path) -> None:
    with EmbeddedKafka(tmp_path) as broker:
        process = psutil.Process(broker.process_id)
    assert not process.is_running()


@pytest.mark.long
def test_the_broker_dies_with_an_owner_killed_hard(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    broker = psutil.Process(int(owner.stdout.readline()))
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    wait_until(lambda: not lives(broker), 20, "the broker's end")


#: What is left out on purpose, by the beginning of its package: who refers to it, and why that never runs.
ABSENT = {
    "com.conversantmedia.util.concurrent": "log4j: asynchronous appenders we do not configure",
    "com.fasterxml.jackson.dataformat.xml": "log4j: layouts in XML",
    "com.fasterxml.jackson.dataformat.yaml": "log4j: YAML files; Kafka: the start of its Docker image",
    "com.github.benmanes.caffeine.cache": "Kafka: the index cache of tiered storage, which is off",
    "com.lmax.disruptor": "log4j: asynchronous loggers",
    "io.grpc": "Kafka: generated stubs of OpenTelemetry that nothing calls",
    "org.apache.commons.beanutils": "commons-validator: forms; Kafka asks only whether a text is an address",
    "org.apache.commons.collections": "commons-validator: forms",
    "org.apache.commons.compress": "log4j: rolled files, compressed",
    "org.apache.commons.csv": "log4j: layouts in CSV",
    "org.apache.commons.digester": "commons-validator: forms",
    "org.apache.commons.io": "commons-net in kafka-clients: protocols; it only reads ranges of addresses",
    "org.apache.commons.logging": "commons-validator: forms",
    "org.codehaus.stax2": "log4j: layouts in XML",
    "org.jctools.queues": "log4j: asynchronous appenders",
    "org.osgi.framework": "log4j and others: life in an OSGi container",
    "org.zeromq": "log4j: an appender to ZeroMQ",
    "scala.reflect": "scala-library and scala-logging: macros of the compiler",
}


@pytest.mark.long
def test_every_package_that_a_class_of_the_broker_refers_to_is_there_or_left_out_on_purpose() -> None:
    missing = missing_packages(ensure_jars(("broker",)))

    unexplained = {
        package: sorted(users)[:5]
        for package, users in missing.items()
        if not any(package == absent or package.startswith(f"{absent}.") for absent in ABSENT)
    }
    needless = [absent for absent in ABSENT if not any(package.startswith(absent) for package in missing)]

    assert unexplained == {}
    assert needless == []


LINES = ["first", "zweite ä", "third"]


@pytest.mark.long
def test_the_peer_copies_a_file_into_a_topic(kafka: str, tmp_path: Path) -> None:
    source = tmp_path / "lines.txt"
    source.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    topic = unique("peer")
    config = {
        "connector.class": "FileStreamSource",
        "file": str(source),
        "topic": topic,
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    with ConnectPeer(kafka, tmp_path / "peer", group=unique("group")) as peer:
        process = psutil.Process(peer.process_id)
        httpx2.post(f"{peer.url}/connectors", json={"name": "copy", "config": config}).raise_for_status()
        active = f"{peer.url}/connectors/copy/topics"
        wait_until(lambda: httpx2.get(active).json()["copy"]["topics"] == [topic], 30, "an active topic")
    assert [(message.value() or b"").decode() for message in consume_all(kafka, topic)] == LINES
    assert not process.is_running()


NOWHERE = "http://127.0.0.1:1"


def run(*names: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "copycat_embedded", *names]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_verified_jars_are_counted(kafka: str) -> None:
    done = run("broker")
    assert done.returncode == 0
    assert done.stdout.startswith("35 jars verified in ")


@pytest.mark.long
def test_without_a_network_the_jar_and_the_way_out_are_named(tmp_path: Path) -> None:
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE)
    done = run(
        "broker", XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path), NO_PROXY="", no_proxy="", **proxies
    )
    assert done.returncode == 1
    assert "Cannot fetch org.apache.kafka:" in done.stderr
    assert "name a folder that holds the jars in COPYCAT_JARS" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path).rglob("*.jar")) == []


def test_an_unknown_set_is_a_usage_error() -> None:
    done = run("zookeeper")
    assert done.returncode == 2
    assert (
        "usage: python -m copycat_embedded [broker] [connect] [connect-old] [hdfs] [jdbc] [mirror] [registry]"
        in done.stderr
    )
