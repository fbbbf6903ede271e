"""The images themselves: small, nobody's root, without a package manager, and with all that roles import."""

from __future__ import annotations

import json
from typing import Final

import docker
import pytest
from copycat_testkit.cluster import ROLES

from tools.containers.engine import LABEL, Engine
from tools.containers.images import image_name

pytestmark = pytest.mark.timeout(1800)
#: In megabytes, as Docker tells an image's size.
MOST: Final = dict.fromkeys(ROLES, 200) | {"executor": 700}
#: Imports every module of the packages that its arguments name, and tells those that cannot be.
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
    plugins = ["copycat_plugins"] if role == "executor" else []

    try:
        run(engine, role, IMPORT_ALL, f"copycat_{role}", "copycat_connect", "copycat_rpc", *plugins)
    except docker.errors.ContainerError as error:
        pytest.fail(bytes(error.stderr or b"").decode())


def test_an_image_lists_what_is_in_it(engine: Engine) -> None:
    script = "print(open('/opt/copycat/sbom.json').read())"

    parts = {part["name"] for part in json.loads(run(engine, "executor", script))["components"]}

    assert {"pyspark", "pyarrow", "confluent-kafka"} <= parts
