"""A picture of a note's neighbourhood: the note in the middle, a ring for each step away, links between them.

Text in, text out: an SVG that any viewer shows, or an HTML page of its own that can be dragged and zoomed and loads
nothing from anywhere. The same graph gives the same picture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from infold.knowledge.graph import Graph
from infold.vault.names import shown_name, stem

MOST_NOTES: Final = 400
_RING: Final = 170.0  # pixels between rings at least
_ROOM: Final = 26.0  # pixels of a ring that a note takes
_NAME: Final = 28  # characters of a name
_COLOURS: Final = ("#b3402a", "#2a6fb3", "#5b8f3a", "#8a6db0", "#7a7a7a")
_STYLE: Final = (
    "svg{background:#fff;font:12px system-ui,sans-serif}line{stroke:#bbb;stroke-width:1}text{fill:#222}"
    "@media(prefers-color-scheme:dark){svg{background:#1b1b1b}line{stroke:#555}text{fill:#ddd}}"
)
_PAN: Final = """
const svg=document.querySelector('svg'),box=svg.viewBox.baseVal;let at=null;
svg.onpointerdown=e=>{at=[e.clientX,e.clientY];svg.setPointerCapture(e.pointerId)};
svg.onpointerup=()=>{at=null};
svg.onpointermove=e=>{if(!at)return;const k=box.width/svg.clientWidth;
box.x-=(e.clientX-at[0])*k;box.y-=(e.clientY-at[1])*k;at=[e.clientX,e.clientY]};
svg.onwheel=e=>{e.preventDefault();const f=e.deltaY>0?1.15:1/1.15,
x=box.x+box.width*e.offsetX/svg.clientWidth,y=box.y+box.height*e.offsetY/svg.clientHeight;
box.x=x-(x-box.x)*f;box.y=y-(y-box.y)*f;box.width*=f;box.height*=f};
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """Where each note stands, and the links between them. `left_out` counts notes beyond `MOST_NOTES`."""

    places: Mapping[str, tuple[float, float]]
    distances: Mapping[str, int]
    links: Sequence[tuple[str, str]]
    left_out: int


def draw(graph: Graph, centre: str, hops: int = 2, most: int = MOST_NOTES) -> Picture:
    """The neighbourhood of `centre` within `hops`, nearest notes first where there are more than `most`."""
    reached = graph.neighbours(centre, hops)
    shown = dict(sorted(reached.items(), key=lambda item: item[1])[:most])
    places: dict[str, tuple[float, float]] = {}
    angles: dict[str, float] = {}
    radius = 0.0
    for distance in range(max(shown.values(), default=-1) + 1):
        ring = [path for path in shown if shown[path] == distance]
        radius = max(radius + _RING, len(ring) * _ROOM / math.tau) if distance else 0.0
        ring.sort(key=lambda path: (_mean_angle(graph, path, angles), path))
        for number, path in enumerate(ring):
            angles[path] = math.tau * number / len(ring)
            places[path] = (radius * math.cos(angles[path]), radius * math.sin(angles[path]))
    links = [(path, other) for path in places for other in graph.outgoing(path) if other in places and other != path]
    return Picture(places, shown, links, len(reached) - len(shown))


def svg(picture: Picture) -> str:
    """The picture as an SVG document."""
    xs = [x for x, _ in picture.places.values()] or [0.0]
    ys = [y for _, y in picture.places.values()] or [0.0]
    left, top = min(xs) - 60, min(ys) - 30
    width, height = max(xs) - left + 220, max(ys) - top + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}">',
        f"<style>{_STYLE}</style>",
    ]
    for source, target in picture.links:
        (x1, y1), (x2, y2) = picture.places[source], picture.places[target]
        parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
    for path, (x, y) in picture.places.items():
        colour = _COLOURS[min(picture.distances[path], len(_COLOURS) - 1)]
        parts.append(
            f'<g><title>{_text(path)}</title><circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}"/>'
            f'<text x="{x + 9:.1f}" y="{y + 4:.1f}">{_text(_short(stem(path)))}</text></g>'
        )
    return "\n".join([*parts, "</svg>\n"])


def html_page(picture: Picture, title: str) -> str:
    """The picture as an HTML page: drag to move, turn the wheel to zoom."""
    more = f"<p>{picture.left_out} notes further out are not shown.</p>" if picture.left_out else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
        "<style>html,body{margin:0;height:100%}svg{width:100%;height:100vh;cursor:grab;touch-action:none}"
        f"</style></head><body>{more}\n{svg(picture)}<script>{_PAN}</script></body></html>\n"
    )


def _mean_angle(graph: Graph, path: str, angles: Mapping[str, float]) -> float:
    """The direction in which a note's neighbours of the inner rings lie, so that links cross less."""
    near = [angles[other] for other in graph.joined(path) if other in angles]
    if not near:
        return 0.0
    return math.atan2(sum(map(math.sin, near)), sum(map(math.cos, near))) % math.tau


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _text(value: str) -> str:
    return escape(shown_name(value))
