"""Draws the pictures of the documentation: each `*.toml` listed here becomes the `.svg` beside it.

A picture is boxes and arrows at given places; its texts stay texts, to be searched and read out.
`python tools/draw.py` writes the pictures, with `--check` it fails when one is not what its source gives.
"""

import sys
import tomllib
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (ROOT / "services" / "architecture.toml",)
#: Fill and border of each kind of box.
COLOURS = {
    "outside": ("#f1f3f5", "#868e96"),
    "service": ("#e7f5ff", "#1c7ed6"),
    "work": ("#fff4e6", "#e8590c"),
    "log": ("#ebfbee", "#2b8a3e"),
}
TITLE_PIXELS, LINE_PIXELS, SMALL_PIXELS = 15, 13, 11
LINE_HEIGHT = 17
#: Lines that would be wider than their box are written smaller. The width of a letter, in its height:
LETTER_WIDTH = 0.56
INK, PAPER = "#212529", "#ffffff"
HEAD = "M 0 0 L 8 4 L 0 8 z"


def main(arguments: list[str]) -> int:
    """Write or check every picture."""
    stale = 0
    for source in SOURCES:
        target = source.with_suffix(".svg")
        drawn = draw(tomllib.loads(source.read_text(encoding="utf-8")))
        if "--check" not in arguments:
            target.write_text(drawn, encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != drawn:
            print(f"{target.relative_to(ROOT)} is not what {source.name} gives: make gen")
            stale = 1
    return stale


def draw(picture: dict[str, Any]) -> str:
    """Return the picture as SVG."""
    width, height = picture["width"], picture["height"]
    title = escape(picture["title"])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        'font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif" text-anchor="middle">',
        f"<title>{title}</title>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        f'orient="auto-start-reverse"><path d="{HEAD}" fill="{INK}"/></marker></defs>',
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
        *(line for box in picture["box"] for line in _box(box)),
        *(line for arrow in picture["arrow"] for line in _arrow(arrow)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _box(box: dict[str, Any]) -> list[str]:
    x, y, width, height = box["at"]
    fill, border = COLOURS[box["kind"]]
    lines = box.get("lines", [])
    middle = x + width / 2
    first = y + (height - LINE_HEIGHT * len(lines)) / 2 + TITLE_PIXELS / 3
    title = _text(middle, first, box["title"], TITLE_PIXELS, ' font-weight="bold"')
    widest = max(map(len, lines), default=0) * LINE_PIXELS * LETTER_WIDTH
    pixels = LINE_PIXELS if widest <= width else SMALL_PIXELS
    below = [_text(middle, first + LINE_HEIGHT * place, line, pixels) for place, line in enumerate(lines, 1)]
    shape = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{border}"/>'
    )
    return [shape, title, *below]


def _text(x: float, y: float, text: str, pixels: int, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{pixels}" fill="{INK}"{more}>{escape(text)}</text>'


def _arrow(arrow: dict[str, Any]) -> list[str]:
    points = " ".join(f"{x},{y}" for x, y in arrow["path"])
    start = ' marker-start="url(#head)"' if arrow.get("both") else ""
    line = f'<polyline points="{points}" fill="none" stroke="{INK}" stroke-width="1.5"'
    drawn = [f'{line}{start} marker-end="url(#head)"/>']
    if "label" in arrow:
        text, x, y = arrow["label"]
        drawn += [
            f'<circle cx="{x}" cy="{y}" r="10" fill="{INK}"/>',
            f'<text x="{x}" y="{y + 5}" font-size="{LINE_PIXELS}" font-weight="bold" fill="{PAPER}">'
            f"{escape(text)}</text>",
        ]
    return drawn


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
