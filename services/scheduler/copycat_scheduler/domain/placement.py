"""Even placement with few moves: who has to give, and who gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set

from copycat_connect.cluster import Instance, in_order

from copycat_scheduler.domain.balance import Loads


class Placement:
    """One round of placing; `kept` shrinks by what has to move, `placed` grows."""

    def __init__(self, workers: Set[str], kept: Mapping[Instance, str]) -> None:
        """`kept` is what stays where it is; its workers may be others than `workers`, who take work."""
        self._workers = workers
        self.kept = dict(kept)
        """Instances that stay, and where."""
        self.placed: dict[Instance, str] = {}
        """Instances that are given to a worker in this round."""
        self._all: Counter[str] = Counter()
        self._of_connector: Counter[tuple[str, str]] = Counter()

    def trim(self, kind: Set[Instance], generations: Mapping[Instance, int]) -> None:
        """Remove from workers what they have too much of one kind: what came last, then by order.

        So a worker that is back gets what others took over for it, and what was theirs before stays.
        """
        if not self._workers:
            return
        loads = self._loads(kind)
        if loads.even:
            return
        by_age = sorted(in_order(kind & self.kept.keys()), key=lambda each: generations[each])
        has = {worker: [each for each in by_age if self.kept[each] == worker] for worker in loads}
        came = {worker: generations[mine[loads.floor]] for worker, mine in has.items() if mine[loads.floor :]}
        for worker, limit in loads.trim(came).items():
            for instance in has[worker][limit:]:
                del self.kept[instance]

    def place(self, kind: Set[Instance], free: Sequence[Instance], former: Mapping[Instance, str]) -> None:
        """Give each free instance of a kind to the worker that ran it, or to one with the least to do."""
        if not self._workers or not free:
            return
        loads = self._loads(kind)
        self._count()
        for instance in free:
            before = former.get(instance)
            returns = before is not None and before in self._workers and loads.has_room(before)
            worker = before if returns and before else self._emptiest(instance, loads)
            loads.add(worker)
            self.placed[instance] = worker
            self._all[worker] += 1
            self._of_connector[worker, instance.connector] += 1

    def _loads(self, kind: Set[Instance]) -> Loads[str]:
        """Count a kind; what an absent worker keeps is not there to be shared."""
        count = dict.fromkeys(self._workers, 0)
        elsewhere = 0
        for instance in kind:
            worker = self.kept.get(instance)
            if worker in count:
                count[worker] += 1
            elif worker is not None:
                elsewhere += 1
        return Loads(count, len(kind) - elsewhere)

    def _emptiest(self, instance: Instance, loads: Loads[str]) -> str:
        """Return the worker with the fewest of this kind, then of this connector, then of all."""

        def burden(worker: str) -> tuple[int, int, int, str]:
            siblings = self._of_connector[worker, instance.connector]
            return loads[worker], siblings, self._all[worker], worker

        return min((worker for worker in loads if loads.has_room(worker)), key=burden)

    def _count(self) -> None:
        """Count what each worker has, of all and of each connector."""
        has = {**self.kept, **self.placed}
        self._all = Counter(has.values())
        self._of_connector = Counter((worker, instance.connector) for instance, worker in has.items())
