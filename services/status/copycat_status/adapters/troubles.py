"""What workers say keeps their instances from moving, for as long as they go on saying so."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_connect.trace_line import shortened

from copycat_status.domain.trouble import MAX_TEXT_CHARACTERS, Trouble, TroubleKind

#: A worker repeats what it says at least twice in this time; what it said before it went away is no news.
FORGOTTEN_AFTER_SECONDS = 10.0
MAX_TROUBLES = 1000
MAX_CALL_CHARACTERS = 50
KINDS = {
    pb.TROUBLE_KIND_HANGS: TroubleKind.HANGS,
    pb.TROUBLE_KIND_RETRIES: TroubleKind.RETRIES,
    pb.TROUBLE_KIND_WAITS: TroubleKind.WAITS,
}


class TroublesNow:
    """What is known at the moment; in no log, for it is worth nothing once it is over."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Use this clock, in seconds that never run backwards."""
        self._clock = clock
        self._told: dict[str, tuple[float, Mapping[Instance, Trouble]]] = {}

    def tell(self, request: pb.ReportTroublesRequest) -> None:
        """Replace all that a worker has reported."""
        found = [_trouble(message) for message in request.troubles[:MAX_TROUBLES] if message.kind in KINDS]
        self._forget_old()
        self._told.pop(request.worker_id, None)
        if found:
            until = self._clock() + FORGOTTEN_AFTER_SECONDS
            self._told[request.worker_id] = (until, {trouble.instance: trouble for trouble in found})

    def now(self) -> Mapping[Instance, Trouble]:
        """Return what holds now; of an instance that two workers speak of, what the later one says."""
        self._forget_old()
        newest: dict[Instance, Trouble] = {}
        for _, troubles in self._told.values():
            for instance, trouble in troubles.items():
                known = newest.get(instance)
                if known is None or known.generation < trouble.generation:
                    newest[instance] = trouble
        return newest

    def _forget_old(self) -> None:
        now = self._clock()
        self._told = {worker: told for worker, told in self._told.items() if told[0] > now}


def _trouble(message: pb.Trouble) -> Trouble:
    return Trouble(
        instance=Instance(message.connector, message.task if message.HasField("task") else None),
        kind=KINDS[message.kind],
        generation=message.generation,
        since_ms=message.since_ms,
        call=shortened(message.call, MAX_CALL_CHARACTERS),
        tries=message.tries,
        text=shortened(message.text, MAX_TEXT_CHARACTERS),
        lasting=message.lasting,
    )
