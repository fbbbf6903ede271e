"""What the parent of the hosts loads before it forks: all of ours, in one thread, and nothing of others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROBE = """
import json, sys, threading
from copycat_executor.spark.daemon import preload
preload()
from copycat_connect.plugin import load_plugins
before = set(sys.modules)
load_plugins()
print(json.dumps({
    "threads": threading.active_count(),
    "loaded by a host": sorted(set(sys.modules) - before),
}))
"""


def test_a_host_finds_our_plugins_loaded_and_loads_those_of_others_itself(tmp_path: Path) -> None:
    (tmp_path / "stranger.py").write_text("raise SystemExit('not in the parent of the hosts')\n")
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[copycat.plugins]\nstranger = stranger\n")

    ran = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["threads"] == 1
    assert not [name for name in found["loaded by a host"] if name.startswith("copycat_")]
