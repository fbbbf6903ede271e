"""Every installed plugin's spec is fit to be shown, and its examples work."""

from __future__ import annotations

import pytest
from copycat_connect.plugin import PluginSpec, load_plugins
from copycat_testkit.conformance import SpecConformance


@pytest.fixture(
    autouse=True, params=load_plugins().all(), ids=lambda spec: f"{spec.kind.value}:{spec.class_name}"
)
def _installed(request: pytest.FixtureRequest) -> None:
    request.instance.installed = request.param


class TestSpecs(SpecConformance):
    """Each installed plugin in turn."""

    installed: PluginSpec

    def spec(self) -> PluginSpec:
        """Return the plugin of this round."""
        return self.installed
