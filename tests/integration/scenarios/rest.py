"""Connectors over REST, as a user's script drives them."""

from __future__ import annotations

import ssl
from typing import Any

import httpx2
from copycat_connect.cluster import Config
from copycat_testkit.kafka import wait_until

PATIENCE = 60.0
RUNNING = "RUNNING"


class Rest:
    """The REST interface of a running system; remembers what it created."""

    def __init__(self, url: str, tls: ssl.SSLContext | None = None) -> None:
        """Keep the root, and what to speak TLS with."""
        fresh = httpx2.Limits(max_keepalive_connections=0)  # a gateway may be restarted at any time
        self._http = httpx2.Client(base_url=url, timeout=90, limits=fresh, verify=tls or True)
        self.url = url
        self._made: set[str] = set()

    def succeeds(self, path: str) -> bool:
        """Tell whether anybody answers, and well."""
        try:
            return self.call("GET", path).is_success
        except httpx2.TransportError:
            return False

    def call(self, method: str, path: str, body: object = None) -> httpx2.Response:
        """Send anything."""
        return (
            self._http.request(method, path, json=body)
            if body is not None
            else self._http.request(method, path)
        )

    def get(self, path: str) -> Any:
        """Return the body of a successful answer."""
        return self.ok("GET", path)

    def ok(self, method: str, path: str, body: object = None) -> Any:
        """Send something that must succeed; returns the body."""
        reply = self.call(method, path, body)
        assert reply.is_success, f"{method} {path}: {reply.status_code} {reply.text}"
        return reply.json() if reply.content else None

    def create(self, name: str, config: Config, initial_state: str = RUNNING) -> None:
        """Create a connector."""
        self._made.add(name)
        body = {"name": name, "config": dict(config), "initial_state": initial_state}
        self.ok("POST", "/connectors", body)

    def configure(self, name: str, config: Config) -> None:
        """Create or change a connector."""
        self._made.add(name)
        self.ok("PUT", f"/connectors/{name}/config", dict(config))

    def delete(self, name: str) -> None:
        """Delete a connector and wait until nothing of it is left."""
        self.ok("DELETE", f"/connectors/{name}")
        self._made.discard(name)
        wait_until(lambda: self.states(name) is None, PATIENCE, f"{name} is gone")

    def states(self, name: str) -> list[str] | None:
        """Return the state of a connector, then those of its tasks; nothing while it has none."""
        reply = self.call("GET", f"/connectors/{name}/status")
        if reply.status_code == 404:
            return None
        assert reply.status_code == 200, reply.text
        found = reply.json()
        return [found["connector"]["state"], *(task["state"] for task in found["tasks"])]

    def wait(self, name: str, *states: str) -> None:
        """Wait until connector and tasks are in these states, in their order."""
        wanted = list(states)

        def reached() -> bool:
            return self.states(name) == wanted

        wait_until(reached, PATIENCE, f"{name} {wanted}")

    def runs(self, name: str, tasks: int = 1) -> None:
        """Wait until a connector and so many tasks run."""
        self.wait(name, RUNNING, *[RUNNING] * tasks)

    def placed(self, name: str) -> list[str]:
        """Return the workers of a connector and of its tasks, in their order."""
        found = self.get(f"/connectors/{name}/status")
        return [found["connector"]["worker_id"], *(task["worker_id"] for task in found["tasks"])]

    def workers(self) -> set[str]:
        """Return the workers that are there to stay."""
        return {worker["worker_id"] for worker in self.get("/workers") if not worker["leaving"]}

    def released(self, name: str) -> None:
        """Wait until no worker has a task of a connector any more, draining or not."""

        def gone() -> bool:
            held = (held for worker in self.get("/workers") for held in worker["held"])
            return not any(each["connector"] == name and "task" in each for each in held)

        wait_until(gone, PATIENCE, f"the last task of {name} has ended")

    def clean(self) -> None:
        """Delete what is left of what was created."""
        for name in list(self._made):
            self.call("DELETE", f"/connectors/{name}")
        self._made.clear()
