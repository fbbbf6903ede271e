"""What the images are made of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_image_of_executors_has_every_distribution_of_plugins() -> None:
    shipped = {
        project["name"]
        for path in ROOT.glob("libs/*/pyproject.toml")
        if "copycat.plugins"
        in (project := tomllib.loads(path.read_text())["project"]).get("entry-points", {})
    }
    executor = tomllib.loads((ROOT / "services/executor/pyproject.toml").read_text())["project"]
    (line,) = re.findall(r'EXECUTOR="([^"]+)"', (ROOT / "deploy/images/Dockerfile").read_text())
    assert shipped <= {*line.split(), *executor["dependencies"]}
    assert "copycat-jdbc" in shipped
