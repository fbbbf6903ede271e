"""The metrics page as a test asks it: for one value by its name and labels."""

from __future__ import annotations

import httpx2
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


class Scraped:
    """One scrape of `/metrics`."""

    def __init__(self, url: str) -> None:
        reply = httpx2.get(f"{url}/metrics", timeout=60, headers={"Accept": "text/plain;version=0.0.4"})
        assert reply.status_code == 200, reply.text
        self.samples = [
            sample for family in text_string_to_metric_families(reply.text) for sample in family.samples
        ]

    def all(self, name: str, **labels: str) -> list[Sample]:
        """Return the samples of a name that have these labels at least."""
        return [
            sample
            for sample in self.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]

    def value(self, name: str, **labels: str) -> float | None:
        """Return the one value there is, or None."""
        found = self.all(name, **labels)
        assert len(found) < 2, found
        return found[0].value if found else None

    def number(self, name: str, **labels: str) -> float:
        """Return the one value that there must be."""
        found = self.value(name, **labels)
        assert found is not None, (name, labels)
        return found

    def names(self, **labels: str) -> set[str]:
        """Return the names of all samples that have these labels at least."""
        return {sample.name for sample in self.samples if labels.items() <= sample.labels.items()}
