"""TrialCard: how a run stands, at a glance."""

from __future__ import annotations

import math
from typing import Any

from ..describing import describe
from .colours import NOT_FINITE_HEX
from .displayed import Displayed
from .drawing import CHARACTER, FAINT, Drawing, readable
from .sources import trial_of
from .terminal import number, sparkline

_MOST_LOSSES, _MOST_RULES, _MOST_COLLECTIONS, _MOST_POINTS = 4, 12, 8, 400
_ROW, _WIDTH = 20.0, 720.0
_SIGNS = {"IssuesFound": "!", "Error": "x", "NoIssuesFound": "ok", "InProgress": "..", "NotApplicable": "-"}
_INKS = {"IssuesFound": "#a33a00", "Error": "#a33a00", "NoIssuesFound": "#00664a"}  # 7:1 and 6:1 on white


class TrialCard(Displayed):
    """Name, state, steps, collections, the newest losses and the rules' verdicts. A trial shows itself as one."""

    def __init__(self, trial: Any):
        self._trial = trial_of(trial)

    def refresh(self) -> None:
        """Takes in what was written since, and draws anew where it is shown."""
        self._trial.refresh()
        self._changed()

    def data(self) -> dict[str, Any]:
        """As describe() has it."""
        return describe(self._trial.path)

    def text(self) -> str:
        description = self.data()
        lines = [f"Trial {self._title(description)}", *self._facts()]
        for name, values, last in self._losses(description):
            lines.append(f"  {readable(name)} {sparkline(values)} {number(last)}")
        for rule, state, details, sign in _rules(description):
            lines.append(f"  {sign:>2} {rule} {state} {details}".rstrip())
        return "\n".join(lines)

    def svg(self) -> str:
        description = self.data()
        losses, rules, facts = self._losses(description), _rules(description), self._facts()
        height = 40 + _ROW * len(facts) + 44 * len(losses) + _ROW * len(rules) + 12
        drawing = Drawing(_WIDTH, height, f"Trial {self._title(description)}", " ".join(facts))
        drawing.text(16, 20, self._title(description), limit=90, font_weight="bold")
        y = 44.0
        for fact in facts:
            drawing.text(16, y, fact.strip(), limit=94, fill=FAINT)
            y += _ROW
        for name, values, last in losses:
            _spark(drawing, y, name, values, last)
            y += 44
        for rule, state, details, sign in rules:
            drawing.text(34, y, sign, text_anchor="end", font_weight="bold", fill=_INKS.get(state, FAINT))
            drawing.text(44, y, f"{rule} {state} {details}", limit=90)
            y += _ROW
        return drawing.document()

    def _title(self, description: dict[str, Any]) -> str:
        name, status = description["TrainingJobName"], description["TrainingJobStatus"]
        second = description.get("SecondaryStatus", status)
        state = status if second == status else f"{status} ({second})"
        reason = description.get("FailureReason", "")
        return f"{readable(name, 50)}: {state}" + (f", {readable(reason, 60)}" if reason else "")

    def _facts(self) -> list[str]:
        trial = self._trial
        modes = [f"{mode.value} {len(trial.steps(mode))}" for mode in trial.modes]
        counts = f"{len(trial.steps())} steps ({', '.join(modes)})"
        steps = f"  {counts}, the last complete one is {trial.last_complete_step}"
        counted = [(name, len(trial.tensor_names(collection=name))) for name in trial.collections()]
        filled = [f"{readable(name, 30)} {count}" for name, count in counted if count and name != "all"]
        more = ", ..." if len(filled) > _MOST_COLLECTIONS else ""
        facts = [steps, f"  {len(trial.tensor_names())} tensors: {', '.join(filled[:_MOST_COLLECTIONS])}{more}"]
        if trial.world_size > 1:
            facts.append(f"  {trial.world_size} workers")
        if trial.losses:
            facts.append(f"  {sum(loss.count for loss in trial.losses)} losses of data: see trial.losses")
        return facts

    def _losses(self, description: dict[str, Any]) -> list[tuple[str, list[float], float]]:
        """Name, some of the values evenly up to the newest, the newest."""
        names = [metric["MetricName"] for metric in description.get("FinalMetricDataList", ())]
        names = [name for name in names if self._trial.has_tensor(name)]
        losses = [name for name in names if "loss" in name.lower()] or names
        return [(name, values, values[-1]) for name in losses[:_MOST_LOSSES] if (values := self._values(name))]

    def _values(self, name: str) -> list[float]:
        handle = self._trial.tensor(name)
        steps = handle.steps(kept=("scalar", "value"))
        stride = max(1, len(steps) // _MOST_POINTS)
        chosen = steps[(len(steps) - 1) % stride :: stride] if steps else []
        return list(handle.scalars(chosen).values())


def _rules(description: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Name, state, details, sign; those with issues first."""
    found = description.get("DebugRuleEvaluationStatuses", ())
    order = ["IssuesFound", "Error"]
    states = [(rule["RuleConfigurationName"], rule.get("Status", rule["RuleEvaluationStatus"]), rule) for rule in found]
    states.sort(key=lambda each: order.index(each[1]) if each[1] in order else len(order))
    rows = [
        (readable(name, 40), state, readable(rule.get("StatusDetails", ""), 80), _SIGNS.get(state, "."))
        for name, state, rule in states
    ]
    left = len(rows) - _MOST_RULES
    return rows if left <= 0 else [*rows[:_MOST_RULES], (f"and {left} more", "", "", "")]


def _spark(drawing: Drawing, y: float, name: str, values: list[float], last: float) -> None:
    finite = [value for value in values if math.isfinite(value)]
    words = f"{readable(name, 28)} {number(last)}"
    drawing.text(16, y + 14, words)
    left = max(240.0, 16 + CHARACTER * (len(words) + 3))
    if not finite:
        return
    low, high = min(finite), max(finite)
    width = (_WIDTH - left - 24) / max(len(values) - 1, 1)
    points = [
        (left + width * index, y + 30 - 30 * ((value - low) / (high - low) if high > low else 0.5))
        for index, value in enumerate(values)
        if math.isfinite(value)
    ]
    drawing.path(points, stroke="#0072b2", stroke_width=1.5)
    for index, value in enumerate(values):
        if not math.isfinite(value):
            drawing.rectangle(left + width * index - 1, y, 3, 30, fill=NOT_FINITE_HEX, note=f"{name}: {number(value)}")
