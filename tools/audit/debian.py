"""Whether Debian has newer packages than an image: in the release, its updates, its security suite.

The archive is asked by apt, in a container of the image that ours is made with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import docker
from docker.errors import ContainerError

from tools.audit.findings import Answer, Finding, NoDataError
from tools.containers.engine import LABEL

#: Prints what apt would install of each package that its argument names and that is older there.
ASK: Final = """
import json, subprocess, sys
asked = json.loads(sys.argv[1])
def call(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
call("apt-get", "-qq", "-o", "APT::Update::Error-Mode=any", "update")
if "-security" not in call("apt-cache", "policy"):
    sys.exit("no security suite among the sources of apt")
newer, name = {}, ""
for line in call("apt-cache", "policy", *asked).splitlines():
    if not line.startswith(" "):
        name = line.rstrip(":")
    elif line.startswith("  Candidate: "):
        candidate = line.split(": ")[1]
        older = ["dpkg", "--compare-versions", asked[name], "lt", candidate]
        if candidate != "(none)" and not subprocess.run(older).returncode:
            newer[name] = candidate
print(json.dumps(newer))
"""


def check(client: docker.DockerClient, base: str, installed: Mapping[str, str]) -> Answer:
    """Compare versions of packages, by name, with what the sources of the image `base` have.

    Raises:
        NoDataError: The archive cannot be reached, or the base image does not follow the security suite.
    """
    try:
        said = client.containers.run(
            base,
            ["python3", "-c", ASK, json.dumps(dict(installed))],
            labels={LABEL: "1"},
            network_mode="host",
            environment={"LC_ALL": "C"},
            remove=True,
        )
    except ContainerError as error:
        text = bytes(error.stderr or b"").decode().strip()
        raise NoDataError(f"Debian's archive: {text.splitlines()[-1] if text else error}") from error
    newer: dict[str, str] = json.loads(bytes(said))
    found = [
        Finding(name, installed[name], "update", "Debian has a newer one", fixed=(version,))
        for name, version in sorted(newer.items())
    ]
    return Answer(len(installed), tuple(found))
