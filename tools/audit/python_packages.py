"""Known vulnerabilities of the packages in uv.lock: uv asks OSV, which has PyPA's and GitHub's advisories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tools.audit.findings import Answer, Finding, NoDataError
from tools.audit.locks import ROOT

SECONDS: Final = 60.0


def check(service_url: str, project: Path = ROOT) -> Answer:
    """Ask about all that the lock file may install.

    Raises:
        NoDataError: The service cannot be reached, or this uv knows no `audit`.
    """
    uv = shutil.which("uv") or str(ROOT / "build/uv/bin/uv")
    command = [
        *(uv, "audit", "--frozen", "--output-format", "json", "--service-url", service_url),
        *("--preview-features", "audit-command,json-output"),
    ]
    try:
        done = subprocess.run(
            command,
            cwd=project,
            env={**os.environ, "UV_HTTP_RETRIES": "1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        said = json.loads(done.stdout)
        findings = tuple(_finding(known) for known in said["vulnerabilities"])
        return Answer(said["summary"]["audited_packages"], findings)
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"uv cannot be run: {error}"
        raise NoDataError(message) from error
    except (ValueError, KeyError) as error:
        message = f"uv audit: {' '.join(done.stderr.split())[:300]}"
        raise NoDataError(message) from error


def _finding(known: dict[str, object]) -> Finding:
    dependency = known["dependency"]
    assert isinstance(dependency, dict)
    return Finding(
        dependency["name"],
        dependency["version"],
        str(known["id"]),
        str(known.get("summary") or known.get("description") or "").split("\n")[0],
        _texts(known.get("aliases")),
        _texts(known.get("fix_versions")),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
