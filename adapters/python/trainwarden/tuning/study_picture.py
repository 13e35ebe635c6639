"""A study in a notebook: what was found, its trials over time and the best of them as a table, as HTML that needs nothing."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Optional

from .records import TrialRecord
from .trial_states import StudyDirection

_WIDTH, _HEIGHT, _MARGIN = 640, 160, 12
_MOST_ROWS, _MOST_POINTS = 20, 2000
_STYLE = """<style>
.tw-study {font: 13px system-ui, sans-serif; color: #1f2328; color-scheme: light dark}
.tw-study svg {background: #f6f8fa; border-radius: 6px; max-width: 100%}
.tw-study circle {fill: #0969da; fill-opacity: .55}
.tw-study polyline {fill: none; stroke: #bc4c00; stroke-width: 2}
.tw-study td, .tw-study th {padding: 2px 8px; text-align: right}
@media (prefers-color-scheme: dark) {
  .tw-study {color: #e6edf3}
  .tw-study svg {background: #161b22}
  .tw-study circle {fill: #58a6ff}
  .tw-study polyline {stroke: #f0883e}
}
</style>"""


def study_html(name: str, sentence: str, directions: Sequence[StudyDirection], trials: Sequence[TrialRecord]) -> str:
    """`directions`: of each objective. With one of them the best so far is drawn through the trials, too."""
    is_single = len(directions) == 1
    picture = _history_svg(trials, directions[0] == StudyDirection.MAXIMIZE) if is_single else ""
    return (
        f'{_STYLE}<div class="tw-study"><b>{html.escape(name)}</b>: {html.escape(sentence)}.'
        f"<br>{picture}{_table(_shown(trials, directions))}</div>"
    )


def _history_svg(trials: Sequence[TrialRecord], is_maximized: bool) -> str:
    points = [(trial.number, value) for trial in trials if (value := _finite_value(trial)) is not None]
    if not points:
        return ""
    lines = _best_so_far(points, is_maximized)
    points = points[:: max(1, math.ceil(len(points) / _MOST_POINTS))]
    last = max(trials[-1].number, 1)
    low, high = min(value for _, value in points + lines), max(value for _, value in points + lines)

    def place(number: int, value: float) -> tuple[float, float]:
        share = (value - low) / (high - low) if high > low else 0.5
        x = _MARGIN + number / last * (_WIDTH - 2 * _MARGIN)
        return round(x, 1), round(_HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN), 1)

    circles = "".join(
        f'<circle cx="{x}" cy="{y}" r="3"><title>trial {number}: {value:g}</title></circle>'
        for number, value in points
        for x, y in [place(number, value)]
    )
    line = " ".join("{},{}".format(*place(number, value)) for number, value in lines)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" '
        f'aria-label="{len(points)} trials, from {low:g} to {high:g}"><polyline points="{line}"/>{circles}</svg>'
    )


def _best_so_far(points: Sequence[tuple[int, float]], is_maximized: bool) -> list[tuple[int, float]]:
    """Where it changes, before and after, and the end."""
    corners: list[tuple[int, float]] = []
    best: Optional[float] = None
    for number, value in points:
        if best is None or (value > best if is_maximized else value < best):
            if best is not None:
                corners.append((number, best))
            best = value
            corners.append((number, best))
    assert best is not None
    return [*corners, (points[-1][0], best)]


def _shown(trials: Sequence[TrialRecord], directions: Sequence[StudyDirection]) -> list[TrialRecord]:
    """The best ones first; of several objectives the last ones."""
    if len(directions) != 1:
        return list(trials[-_MOST_ROWS:])
    sign = -1 if directions[0] == StudyDirection.MAXIMIZE else 1

    def cost(trial: TrialRecord) -> tuple[bool, float]:
        value = _finite_value(trial) if trial.state == "complete" else None
        return value is None, 0 if value is None else sign * value

    return sorted(trials, key=cost)[:_MOST_ROWS]


def _table(trials: Sequence[TrialRecord]) -> str:
    if not trials:
        return ""
    metrics = list(dict.fromkeys(name for trial in trials for name in trial.metrics))
    params = list(dict.fromkeys(name for trial in trials for name in trial.params))
    head = ["trial", "state", *metrics, *params]
    rows = [
        [trial.number, trial.state, *(trial.metrics.get(name) for name in metrics),
         *(trial.params.get(name) for name in params)]
        for trial in trials
    ]  # fmt: skip
    return "<table>" + _row("th", head) + "".join(_row("td", row) for row in rows) + "</table>"


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(_text(cell))}</{tag}>" for cell in cells) + "</tr>"


def _text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _finite_value(trial: TrialRecord) -> Optional[float]:
    values = trial.values
    return values[0] if values and math.isfinite(values[0]) else None
