"""Families of parametrised tests of which some cases run always, and all of them in the long run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

#: Marks what only the long run runs.
LONG = pytest.mark.long


def sampled(cases: Iterable[Any], *, keep: int, several: bool = False) -> list[Any]:
    """Return the cases for `parametrize`, all but `keep` of them marked as long.

    The kept ones are spread evenly over the family, the first and the last among them, and are the same in
    every run. `several`: each case is a tuple with a value for each of several parameters.

    Raises:
        ValueError: None would be kept.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}: a family keeps at least one case")
    found = list(cases)
    last = len(found) - 1
    kept = {round(place * last / max(keep - 1, 1)) for place in range(keep)}
    for place in set(range(len(found))) - kept:
        case = found[place]
        if hasattr(case, "marks"):  # it is a `pytest.param` already
            found[place] = pytest.param(*case.values, marks=[*case.marks, LONG], id=case.id)
        else:
            found[place] = pytest.param(*(case if several else (case,)), marks=LONG)
    return found
