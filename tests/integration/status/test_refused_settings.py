"""A status service that is not to start, because of its retry settings."""

import subprocess
import sys
from pathlib import Path

import pytest

RETRY = "status.storage.retry."


@pytest.mark.row("KRETRY-06", "KRETRY-T07")
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"initial.backoff.ms": "10001"},
            (f"{RETRY}initial.backoff.ms=10001", f"{RETRY}max.backoff.ms=10000"),
        ),
        ({"jitter.factor": "1.1"}, (f"{RETRY}jitter.factor", "1.1")),
        ({"jitter.factor": "-0.1"}, (f"{RETRY}jitter.factor", "-0.1")),
    ],
    ids=["first wait beyond the longest", "too much jitter", "negative jitter"],
)
def test_a_service_does_not_start_with_settings_out_of_range(
    tmp_path: Path, settings: dict[str, str], said: tuple[str, ...]
) -> None:
    file = tmp_path / "worker.properties"
    lines = [f"{RETRY}{key}={value}" for key, value in settings.items()]
    file.write_text("\n".join(["storage.backend=memory", "status.listen=127.0.0.1:0", *lines]))

    ended = subprocess.run(
        [sys.executable, "-m", "copycat_status", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode != 0
    for each in said:
        assert each in ended.stderr
