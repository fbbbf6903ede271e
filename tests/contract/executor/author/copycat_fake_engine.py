"""A query engine without Spark: what it does stands in the query."""

from __future__ import annotations

import json
import os
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    what, _, argument = request["sql"].partition(" ")
    if what == "die" or (what == "die-once" and not Path(argument).exists()):
        if what == "die-once":
            Path(argument).touch()
        os._exit(3)
    if what == "refuse":
        error = {"code": ["config.invalid", "INVALID_ARGUMENT", 400], "message": argument, "trace": ""}
        return {"error": error}
    if request["call"] == "prepare":
        return {"result": f"made_by_{os.getpid()} BIGINT"}
    return {"result": b64encode(b64decode(request["batch"])[::-1]).decode()}


def main() -> None:
    """Answer pings and queries."""
    sys.stdin.readline()
    print(json.dumps({"event": "ready"}), flush=True)  # its lines are its answers
    for line in sys.stdin:
        request = json.loads(line)
        if request["call"] == "ping":
            answer: dict[str, Any] = {"result": None}
        elif request["sql"] == "hang":
            continue
        else:
            answer = _answer(request)
        print(json.dumps({"id": request["id"], **answer}), flush=True)  # likewise


if __name__ == "__main__":
    main()
