"""One container, and what can happen to it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from tools.containers.engine import LABEL, Engine

STOP_SECONDS: Final = 60
MEGABYTE: Final = 1 << 20

# The container that would remove ours after us needs a registry; `Engine.sweep` does its work.
testcontainers_config.ryuk_disabled = True


def network(engine: Engine) -> Network:
    """Return a network of our own, to be created; containers find each other there by name."""
    return Network(_settings(engine), {"labels": {LABEL: "1"}})


def _settings(engine: Engine) -> dict[str, Any]:
    """Return what leads the library to an engine."""
    return {"environment": {"DOCKER_HOST": engine.host}}


class Box:
    """A container known to others by its name; it lives on from start to start, with what it wrote."""

    def __init__(
        self,
        engine: Engine,
        on: Network,
        name: str,
        image: str,
        *,
        command: Sequence[str] = (),
        files: Mapping[Path, str] | None = None,
        environment: Mapping[str, str] | None = None,
        memory_megabytes: int,
        aliases: Sequence[str] = (),
        volumes: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing starts yet.

        Args:
            engine: Where it runs.
            on: Its network.
            name: How others on the network call it, and its host name.
            image: What it runs.
            command: In place of the image's own.
            files: Files and folders of ours to the places where it reads them.
            environment: Its variables.
            memory_megabytes: What it may take.
            aliases: More names, which it may share with others.
            volumes: Volumes, or folders of ours, to the places where it reads and writes them.
        """
        self.name = name
        self.started = False
        """It was started once."""
        self._network = on
        self._names = [name, *aliases]
        self._declared = DockerContainer(
            image,
            _settings(engine),
            command=list(command) or None,  # type: ignore[arg-type]  # a list needs no shell
            env=dict(environment or {}),
            name=f"copycat-e2e-{name}-{secrets.token_hex(4)}",
            volumes=[
                *((str(ours), place, "ro") for ours, place in (files or {}).items()),
                *((volume, place, "rw") for volume, place in (volumes or {}).items()),
            ],
            network=on,
            network_aliases=self._names,
            hostname=name,
            labels={LABEL: "1"},
            init=True,
            healthcheck={"test": ["NONE"]},  # a program every some seconds, for each: we ask from outside
            restart_policy={"Name": "on-failure"},  # as in compose; not after a kill from outside
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true"],
            mem_limit=memory_megabytes * MEGABYTE,
        )

    @property
    def _container(self) -> Any:  # noqa: ANN401 - the library's own, which has no types
        return self._declared.get_wrapped_container()

    @property
    def ip(self) -> str:
        """Its address on the network now; another one may follow when it is started again."""
        return self._place("IPAddress")

    @property
    def outside(self) -> str:
        """The address of this machine on its network."""
        return self._place("Gateway")

    def start(self) -> None:
        """Start it for the first time."""
        self._declared.start()
        self.started = True

    def start_again(self) -> None:
        """Start it after it ended."""
        self._container.start()

    def kill(self) -> None:
        """SIGKILL all its processes."""
        self._container.kill()

    def stop(self) -> int:
        """SIGTERM it, wait for its end and return its exit code."""
        self._container.stop(timeout=STOP_SECONDS)
        return int(self._container.wait()["StatusCode"])

    def remove(self) -> None:
        """Remove it with what it wrote, after it ended; another one may then bear its name."""
        self._container.remove(v=True)

    def pause(self) -> None:
        """Freeze all its processes."""
        self._container.pause()

    def unpause(self) -> None:
        """Let them go on."""
        self._container.unpause()

    def cut(self) -> None:
        """Pull its network cable."""
        self._container.client.networks.get(self._network.name).disconnect(self._container.id)

    def mend(self) -> None:
        """Plug it in again."""
        self._network.connect(self._container.id, self._names)

    def run(self, *command: str) -> str:
        """Run a command inside and return what it said.

        Raises:
            AssertionError: It failed.
        """
        code, said = self._container.exec_run(list(command))
        text = bytes(said).decode(errors="replace")
        assert code == 0, f"{' '.join(command)} in {self.name} ended with {code}: {text}"
        return text

    def said(self) -> str:
        """Return all it said."""
        return bytes(self._container.logs()).decode(errors="replace")

    @property
    def runs(self) -> bool:
        """True while its first process is alive."""
        self._container.reload()
        return str(self._container.status) in {"running", "paused"}

    def _place(self, key: str) -> str:
        """Return what its network says of it; nothing while it has none."""
        self._container.reload()
        found = self._container.attrs["NetworkSettings"]["Networks"].get(self._network.name, {})
        return str(found.get(key, ""))
