"""What was measured, as the table and the curves of LOAD.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from copycat_testkit.outcomes import markdown_table

from tools.load.growth import Memory, Step

PAGE: Final = Path(__file__).with_name("LOAD.md")
CURVES: Final = Path(__file__).with_name("curves.svg")
COUNTED_ONLY: Final = "so far: "
"""How figures of a simulation begin that its log shows and the page does not."""
#: Of one curve and its surroundings, in units of the picture.
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 230, 120, 50, 30, 70


def steps_table(steps: Sequence[Step]) -> str:
    """Return a row for each figure, a column for each step."""
    rows = [
        ("hosts of tasks", [str(each.hosts) for each in steps]),
        ("connectors a second that REST takes", [f"{each.defined:.1f}" for each in steps]),
        ("until all run, after the last was defined, s", [f"{each.running:.1f}" for each in steps]),
    ]
    for role in steps[0].memory:
        rows.append((f"memory of {role}, MB", [f"{each.memory[role][1]:.0f}" for each in steps]))
    rows.append(("memory, all roles, MB", [f"{_total(each):.0f}" for each in steps]))
    for role in steps[0].cores:
        rows.append((f"CPU at rest of {role}, %", [f"{100 * each.cores[role]:.1f}" for each in steps]))
    rows.append(("CPU at rest, all roles, %", [f"{100 * sum(each.cores.values()):.1f}" for each in steps]))
    for what in steps[0].latencies:
        shown_latencies = [each.latencies[what] for each in steps]
        rows.append(
            (f"{what}, p50/p99, ms", [f"{each.median:.0f}/{each.high:.0f}" for each in shown_latencies])
        )
    rows += [
        ("kill -9 of an executor, until all run, s", [f"{each.lost:.1f}" for each in steps]),
        ("and, as it is back, until spread evenly, s", [f"{each.back:.1f}" for each in steps]),
        ("load of the machine", [f"{each.load:.1f}" for each in steps]),
    ]
    return _table(["connectors", *(str(each.connectors) for each in steps)], rows)


def memory_table(found: Memory) -> str:
    """Return memory before and after churn, and its slope."""
    slopes = found.slopes()
    rows = [
        (role, [f"{each[0]:.0f}", f"{each[-1]:.0f}", f"{slopes[role]:+.2f}" if slopes else "-"])
        for role, each in found.by_role.items()
    ]
    total = [sum(each[n] for each in found.by_role.values()) for n in (0, -1)]
    slope = f"{sum(slopes.values()):+.2f}" if slopes else "-"
    rows.append(("all", [f"{total[0]:.0f}", f"{total[1]:.0f}", slope]))
    summary = f"{found.changes[-1]} changes in {found.minutes[-1]:.1f} minutes."
    return f"{summary}\n\n{_table(['memory, MB', 'before', 'after', 'kB a change'], rows)}"


def figures_table(found: Sequence[Mapping[str, float | None]], sizes: Sequence[int]) -> str:
    """Return the figures of the simulation, a column for each size; what did not come is `never`."""
    names = dict.fromkeys(name for each in found for name in each if not name.startswith(COUNTED_ONLY))
    rows = [(name, [_figure(each, name) for each in found]) for name in names]
    return _table(["connectors", *map(str, sizes)], rows)


def curves(steps: Sequence[Step]) -> str:
    """Return the curves over the number of connectors, as SVG."""
    shown = [
        ("memory, PSS, MB", [_total(each) for each in steps]),
        ("CPU at rest, % of a core", [100 * sum(each.cores.values()) for each in steps]),
        ("GET status, p99, ms", [each.latencies["GET status"].high for each in steps]),
        ("PUT config, p99, ms", [each.latencies["PUT config"].high for each in steps]),
        ("executor lost, all run after, s", [each.lost for each in steps]),
        ("executor back, spread after, s", [each.back for each in steps]),
    ]
    across = [each.connectors for each in steps]
    parts = [
        _curve(title, across, values, number % 3, number // 3) for number, (title, values) in enumerate(shown)
    ]
    width, height = 3 * (_WIDTH + _GAP) + _LEFT, 2 * (_HEIGHT + _GAP) + _TOP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        f' font-size="11"><rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _table(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> str:
    return markdown_table(head, ([name, *cells] for name, cells in rows))


def _curve(title: str, across: Sequence[int], values: Sequence[float], column: int, row: int) -> str:
    left, top = _LEFT + column * (_WIDTH + _GAP), _TOP + row * (_HEIGHT + _GAP)
    highest, widest = max(*values, 1e-9), max(across)
    points = [
        (left + _WIDTH * x / widest, top + _HEIGHT * (1 - y / highest))
        for x, y in zip(across, values, strict=True)
    ]
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    marks = "".join(
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3"/>'
        f'<text x="{x:.0f}" y="{top + _HEIGHT + 15}" text-anchor="middle">{size}</text>'
        for (x, y), size in zip(points, across, strict=True)
    )
    return (
        f'<text x="{left}" y="{top - 10}" font-weight="bold">{title}</text>'
        f'<path d="M{left},{top}V{top + _HEIGHT}H{left + _WIDTH}" fill="none" stroke="gray"/>'
        f'<text x="{left - 4}" y="{top + 8}" text-anchor="end">{highest:.3g}</text>'
        f'<text x="{left - 4}" y="{top + _HEIGHT}" text-anchor="end">0</text>'
        f'<polyline points="{line}" fill="none" stroke="black"/>{marks}'
    )


def _total(step: Step) -> float:
    return sum(proportional for _, proportional in step.memory.values())


def _figure(figures: Mapping[str, float | None], name: str) -> str:
    value = figures.get(name, 0.0)
    return "never" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"
