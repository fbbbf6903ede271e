"""The few REST calls a measurement makes; the same on both systems."""

from __future__ import annotations

import httpx2
from copycat_testkit.eventually import wait


class Rest:
    """A Connect REST interface, ours or the peer's."""

    def __init__(self, url: str) -> None:
        self._client = httpx2.Client(base_url=url, timeout=60)

    def create(self, name: str, config: dict[str, str]) -> None:
        """Create a connector, waiting while a rebalance is under way."""

        def created() -> bool:
            reply = self._client.post("/connectors", json={"name": name, "config": config})
            if reply.status_code not in (201, 409):
                raise RuntimeError(f"creating {name} answered {reply.status_code}: {reply.text}")
            return reply.status_code == 201

        wait(created, 60, f"{name} could not be created")

    def running(self, name: str) -> bool:
        """Say whether the connector and at least one task run; a failed task ends the measurement."""
        reply = self._client.get(f"/connectors/{name}/status")
        if reply.status_code != 200:
            return False
        status = reply.json()
        for task in status["tasks"]:
            if task["state"] == "FAILED":
                raise RuntimeError(f"{name} failed: {task.get('trace', '')[:400]}")
        return bool(status["tasks"]) and all(task["state"] == "RUNNING" for task in status["tasks"])

    def worker_of(self, name: str) -> str:
        """Return the worker that runs the connector's first task; empty while none does."""
        reply = self._client.get(f"/connectors/{name}/status")
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        return str(tasks[0]["worker_id"]) if tasks and tasks[0]["state"] == "RUNNING" else ""

    def pause(self, name: str) -> None:
        """Pause a connector."""
        self._client.put(f"/connectors/{name}/pause").raise_for_status()

    def delete(self, name: str) -> None:
        """Delete a connector and wait until its status is gone."""
        wait(
            lambda: self._client.delete(f"/connectors/{name}").status_code in (204, 404), 60, f"{name} stayed"
        )
        wait(
            lambda: self._client.get(f"/connectors/{name}/status").status_code == 404,
            60,
            f"{name} kept a status",
        )
