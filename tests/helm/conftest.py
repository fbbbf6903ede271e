"""Helm's own program, and the schemas of Kubernetes, for tests of the chart."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from copycat_testkit.go_programs import built_once, go_install

CHART: Final = Path(__file__).resolve().parents[2] / "deploy/helm/copycat"
VERSION: Final = "3.19.0"
#: Oldest and newest that the chart is checked for.
KUBERNETES: Final = ("1.27.0", "1.37.0")
REQUIRED: Final = (
    "kafka.bootstrapServers=kafka-0.kafka:9092,kafka-1.kafka:9092",
    "clusterSecret.existingSecret=own",
)

Document = dict[str, Any]
Render = Callable[..., list[Document]]


def _build(place: Path) -> Path:
    go_install(f"helm.sh/helm/v3/cmd/helm@v{VERSION}", place)
    return place / "helm"


@pytest.fixture(scope="package")
def helm() -> Path:
    """Helm as its modules give it, built where this user has none yet: two to four minutes."""
    return built_once(f"helm-{VERSION}", _build)


@pytest.fixture(scope="package")
def run_helm(helm: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Helm with words, on the chart, with values."""

    def run(*words: str, values: tuple[str, ...] = REQUIRED) -> subprocess.CompletedProcess[str]:
        settings = [word for value in values for word in ("--set", value.replace(",", "\\,"))]
        command = [str(helm), *words, str(CHART), *settings]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    return run


@pytest.fixture(scope="package")
def render(run_helm: Callable[..., subprocess.CompletedProcess[str]]) -> Render:
    """Return what the chart becomes with values, as documents."""

    def rendered(*values: str, kubernetes: str = KUBERNETES[0]) -> list[Document]:
        done = run_helm("template", "release", "--kube-version", kubernetes, values=(*REQUIRED, *values))
        assert done.returncode == 0, done.stderr
        return [document for document in yaml.safe_load_all(done.stdout) if document]

    return rendered


def named(documents: list[Document], kind: str, name: str) -> Mapping[str, Any]:
    """Return the document of a kind and name."""
    [found] = [each for each in documents if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found
