"""Compose files: the compose that is there, the commands of a page, and what became of their containers."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import httpx2
from copycat_testkit.commands import COPYCAT
from copycat_testkit.debian import install

from tools.containers.engine import ROOT, Engine

SECONDS: Final = 900.0


def compose_program(engine: Engine) -> Sequence[str]:
    """Return how compose is called: version 2 as a part of Docker, or 1.29, which is Debian's.

    Raises:
        CalledProcessError: Neither is there, and this user may not install the package.
    """
    environment = {**os.environ, "DOCKER_HOST": engine.host}
    docker = shutil.which("docker")
    asked = [docker, "compose", "version"] if docker else ["false"]
    if subprocess.run(asked, capture_output=True, env=environment, check=False).returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose") is None:
        install("docker-compose")
    return ["docker-compose"]


def commands_of(page: Path, first: str) -> Iterator[str]:
    """Yield the commands of the block of a page that begins with a text, without their comments.

    Raises:
        ValueError: No block of the page does.
    """
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    found = [block for block in blocks if block.startswith(first)]
    if len(found) != 1:
        raise ValueError(f"{page.name} has {len(found)} blocks that begin with {first!r}, not one")
    for line in found[0].splitlines():
        yield re.sub(r"\s+#.*", "", line)


def command_above(file: Path) -> str:
    """Return the command that the comment at the head of a compose file gives to start it.

    Raises:
        ValueError: It gives no command.
    """
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("#   docker compose "):
            return line.removeprefix("#").strip()
    raise ValueError(f"{file.name} does not say how to start it")


class Shell:
    """Types commands of a page as a user would who has another compose, another port or another registry."""

    def __init__(self, engine: Engine, project: str, port: int, more: Mapping[str, str]) -> None:
        """`more`: variables that name base images."""
        self.program = compose_program(engine)
        self.url = f"http://127.0.0.1:{port}"
        self._environment = {
            **os.environ,
            "DOCKER_HOST": engine.host,
            # The classic builder finds the layers that were built before.
            **{"DOCKER_BUILDKIT": "0", "COMPOSE_DOCKER_CLI_BUILD": "0", "COMPOSE_PROJECT_NAME": project},
            "COPYCAT_REST_PORT": str(port),
            **more,
        }

    def type(self, command: str) -> str:
        """Run a line of a page; returns what it printed.

        Raises:
            AssertionError: It failed.
        """
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self._environment[name] = self._run(["/bin/sh", "-c", f"echo {value}"]).strip()
            return ""
        words = shlex.split(command.replace("http://127.0.0.1:8083", self.url))
        if words[:2] == ["docker", "compose"]:
            return self._run([*self.program, *self._for_our_version(words[2:])])
        if words[0] == "copycat":
            return self._run([str(COPYCAT), *words[1:], "--url", self.url])
        return self._run(words)

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """Return what REST says; nothing while it says nothing good."""
        try:
            reply = httpx2.get(f"{self.url}{path}", timeout=30)
        except httpx2.TransportError:
            return None
        return reply.json() if reply.is_success else None

    def _for_our_version(self, words: Sequence[str]) -> Sequence[str]:
        words = [word for word in words if self.program[0] == "docker" or word != "--wait"]
        if "exec" in words:  # no terminal is there
            words.insert(words.index("exec") + 1, "-T")
        return words

    def _run(self, words: Sequence[str]) -> str:
        done = subprocess.run(
            words,
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-3000:]}"
        return done.stdout
