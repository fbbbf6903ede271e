"""`python -m copycat_embedded`: jars from the repository, and what is said when it is away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
