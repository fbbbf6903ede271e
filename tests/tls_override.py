"""deploy/compose/tls.properties with certificates of its script, and what deploy/README.md types for them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from copycat_connect.config.properties import parse_properties
from copycat_testkit.debian import install

TOP: Final = Path(__file__).parents[1]
DEPLOY: Final = TOP / "deploy"
COMPOSE: Final = DEPLOY / "compose"
SCRIPT: Final = COMPOSE / "certificates.sh"
MOUNTED: Final = "/etc/copycat/certificates"
#: What the override is about; the other keys say where the containers of compose.yaml are.
GUARDS: Final = ("services.ssl.", "listeners.https.ssl.", "connector.client.config.override.policy")
_PROGRAMS: Final = ("openssl", "curl")
_SECONDS: Final = 120.0


def guards(certificates: Path) -> dict[str, str]:
    """Return the keys that encrypt and restrict, for certificates that are in this folder on this machine."""
    given = parse_properties((COMPOSE / "tls.properties").read_text("utf-8"))
    return {
        key: value.replace(MOUNTED, str(certificates / "mounted"))
        for key, value in given.items()
        if key.startswith(GUARDS)
    }


def page() -> tuple[Sequence[str], Sequence[str]]:
    """Return the commands of the page before and after the one that starts the containers."""
    [block] = re.findall(
        r"^```\n(sh deploy/compose/certificates\.sh.*?)^```",
        (DEPLOY / "README.md").read_text("utf-8"),
        re.M | re.S,
    )
    lines = block.splitlines()
    [up] = [number for number, line in enumerate(lines) if line.startswith("docker compose")]
    assert "-f deploy/compose/compose.yaml -f deploy/compose/tls.yaml up" in lines[up]
    return lines[:up], lines[up + 1 :]


def shell(*commands: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Type commands at the top of the repository, until one fails."""
    for program in _PROGRAMS:
        if shutil.which(program) is None:
            install(program)
    return subprocess.run(
        ["/bin/sh", "-e", "-c", "\n".join(commands)],
        cwd=TOP,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
