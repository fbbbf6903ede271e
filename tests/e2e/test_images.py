"""The images themselves: small, nobody's root, without a package manager, and with all that roles import."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

import docker
import pytest
from copycat_testkit.cluster import ROLES

from tools.audit.debian import check
from tools.audit.findings import judge, read_accepted
from tools.containers.base_image import bases
from tools.containers.engine import LABEL, Engine
from tools.containers.images import image_name

pytestmark = pytest.mark.timeout(1800, func_only=True)
#: In megabytes, as Docker gives an image's size.
MOST: Final = dict.fromkeys(ROLES, 200) | {"executor": 700}
PLUGINS: Final = (
    "copycat_plugins", "copycat_jdbc", "copycat_mirror", "copycat_objects", "copycat_registry",
)  # fmt: skip
#: Imports every module of the packages that its arguments name, and prints those that cannot be.
IMPORT_ALL: Final = """
import importlib, pkgutil, sys
failed = []
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except Exception as error:
                failed.append(f"{module.name}: {error!r}")
sys.exit("\\n".join(failed) or None)
"""
#: Tells the packages of Debian, of Python those of others, and what the bill lists, by name and version.
LIST_PACKAGES: Final = """
import importlib.metadata, json, pathlib, re
def fields(record):
    lines = [line.split(": ", 1) for line in record.read_text().splitlines() if ": " in line]
    return {name: value for name, value in lines if name in ("Package", "Version")}
records = map(fields, pathlib.Path("/var/lib/dpkg/status.d").iterdir())
found = importlib.metadata.distributions()
python = {re.sub("[-_.]+", "-", each.name).lower(): each.version for each in found}
others = {name: version for name, version in python.items() if not name.startswith("copycat-")}
bill = json.loads(pathlib.Path("/opt/copycat/sbom.json").read_text())["components"]
listed = [(part["name"], part["version"]) for part in bill]
print(json.dumps([{each["Package"]: each["Version"] for each in records}, others, listed]))
"""
LOOK_AROUND: Final = (
    "import json, os, shutil; names = 'apt apt-get dpkg pip pip3 gcc curl wget'.split(); "
    "print(json.dumps([os.getuid(), os.access('/opt/copycat', os.W_OK), os.access('/data', os.W_OK), "
    "[name for name in names if shutil.which(name)]]))"
)


def run(engine: Engine, role: str, *arguments: str) -> str:
    """Run Python in the image of a role, as it is run, and return what it printed."""
    with engine.client() as client:
        said = client.containers.run(
            image_name(role),
            ["python", "-c", *arguments],
            labels={LABEL: "1"},
            network_mode="none",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true"],
            remove=True,
        )
    return bytes(said).decode()


@pytest.mark.parametrize("role", ROLES)
def test_an_image_is_small(engine: Engine, role: str) -> None:
    with engine.client() as client:
        megabytes = client.images.get(image_name(role)).attrs["Size"] / 1e6

    assert megabytes < MOST[role]


@pytest.mark.parametrize("role", ROLES)
def test_an_image_runs_as_nobody_of_importance_and_brings_no_tools(engine: Engine, role: str) -> None:
    user, may_change_code, may_keep_data, tools = json.loads(run(engine, role, LOOK_AROUND))

    assert user == 10001
    assert (may_change_code, may_keep_data) == (False, True)
    assert tools == []


@pytest.mark.parametrize("role", ROLES)
def test_every_module_of_a_role_can_be_imported_in_its_image(engine: Engine, role: str) -> None:
    plugins = PLUGINS if role == "executor" else ()

    try:
        run(engine, role, IMPORT_ALL, f"copycat_{role}", "copycat_connect", "copycat_rpc", *plugins)
    except docker.errors.ContainerError as error:
        pytest.fail(bytes(error.stderr or b"").decode())


@pytest.mark.parametrize("role", ROLES)
def test_the_bill_of_an_image_lists_every_package_in_it(engine: Engine, role: str) -> None:
    debian, python, listed = json.loads(run(engine, role, LIST_PACKAGES))

    assert {"libc6", "ca-certificates"} <= set(debian)
    assert ("openjdk-17-jre-headless" in debian) == (role == "executor")
    assert {*debian.items(), *python.items()} - {(name, version) for name, version in listed} == set()


@pytest.mark.parametrize("role", ["gateway", "executor"])  # the others stand on what the gateway stands on
def test_debian_has_nothing_newer_than_what_is_in_an_image(engine: Engine, role: str) -> None:
    debian, *_ = json.loads(run(engine, role, LIST_PACKAGES))

    with engine.client() as client:
        answer = check(client, bases(client).build, debian)

    counting, _ = judge(answer.findings, read_accepted(), datetime.now(UTC).date())
    assert answer.asked == len(debian) > 5
    assert counting == ()


def test_an_older_package_than_debian_has_is_found(engine: Engine) -> None:
    with engine.client() as client:
        answer = check(client, bases(client).build, {"libc6": "2.36-1", "no-such-package": "1"})

    assert [finding.package for finding in answer.findings] == ["libc6"]
