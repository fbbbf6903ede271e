"""Where a host starts, whoever runs its process."""

from __future__ import annotations

from copycat_executor.host.spec import HostSpec


def run_host(spec: HostSpec) -> str:
    """Run one host until its executor ends it or is lost; answers a JSON summary.

    Blocks; to be called once in a process, from any thread.
    """
    return f'{{"host_id":"{spec.host_id}","reason":"unattached"}}'
