"""What came of a search, in sentences: how far the target is, what mattered, and what to try next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from trainwarden.tuning import Importance, Outcome, ParameterImportance, TrialRecord

_EDGE = 0.02  # of a range
_LONG = 5  # trials
_MOST_NAMED = 5  # parameters
_LITTLE = 0.1  # a share of which even the upper end is below this is little


def against_target(best: Optional[TrialRecord], metrics: Mapping[str, Any]) -> list[str]:
    """Of each metric with a threshold what the best trial has of it, and what is missing. `metrics`: those of the
    study."""
    wished = {name: metric for name, metric in metrics.items()
              if metric.get("threshold") is not None and metric["strategy"] != "store"}  # fmt: skip
    if best is None:
        return []
    return [_distance(name, best.metrics.get(name), metric) for name, metric in wished.items()]


def what_mattered(importance: Optional[Importance]) -> list[str]:
    """A line for each parameter that has a share worth naming, and how far that is to be trusted."""
    if importance is None:
        return []
    named = [share for share in importance.ped_anova[:_MOST_NAMED] if share.high >= _LITTLE]
    lines = [f"{share.parameter}: {_share_text(share)} of what makes a trial one of the best" for share in named]
    if importance.fanova is not None and importance.fanova.trusted:
        lines += [f"{share.parameter}: {_share_text(share)} of what makes trials differ"
                  for share in importance.fanova.single[:_MOST_NAMED] if share.high >= _LITTLE]  # fmt: skip
        lines.append(f"a forest explains {importance.fanova.r2:.2f} of trials that it has not seen (R2; 1 is all)")
    if importance.note:
        lines.append(importance.note)
    return lines


def advice(
    outcome: Outcome,
    trials: Sequence[TrialRecord],
    best: Optional[TrialRecord],
    space: Mapping[str, Any],
    searches: bool,
    importance: Optional[Importance] = None,
) -> str:
    """What to try next, a line each. `space`: the parameters of the study. `searches`: whether values are searched, not
    given."""
    if outcome.has_target and outcome.is_met:
        return "Next: nothing is needed, the target is met."
    if best is None:
        failed = next((trial for trial in trials if trial.state == "failed"), None)
        return f"Next: mend what fails; trial {failed.number}: {failed.why}" if failed else "Next: launch()."
    if not searches:
        return "Next: this was one training with given values; enable_sigopt = True searches better ones."
    idle = _without_effect(importance)
    lines = []
    ends = [text for name, value in best.params.items()
            if name not in idle and (text := _at_an_end(name, value, space[name]))]  # fmt: skip
    if ends:
        lines.append(f"Next: widen the range where the best lies at its end: {', '.join(ends)}.")
    fixed = [f"{name} {_value_text(best.params[name])}" for name in idle if name in best.params]
    if fixed:
        lines.append(f"Next: fix what does not matter, and search the rest: {', '.join(fixed)}.")
    return "\n".join(lines) or _more_trials(trials, best)


def _more_trials(trials: Sequence[TrialRecord], best: TrialRecord) -> str:
    since = sum(trial.number > best.number and trial.state == "complete" for trial in trials)
    if since >= _LONG:
        return f"Next: search other parameters: {since} trials since trial {best.number} were no better."
    since_text = "the last trial was the best" if since == 0 else f"the best has only {since} trials behind it"
    return f"Next: raise observation_budget: {since_text}."


def _without_effect(importance: Optional[Importance]) -> list[str]:
    """Parameters whose shares are surely little, alone and with others. Only a forest that is to be trusted says so."""
    if importance is None or importance.fanova is None or not importance.fanova.trusted:
        return []
    among_best = {share.parameter: share.high for share in importance.ped_anova}
    paired = {name for pair in importance.fanova.pairs if pair.high >= _LITTLE for name in pair.parameters}
    return [share.parameter for share in importance.fanova.single
            if share.high < _LITTLE and among_best.get(share.parameter, 1) < _LITTLE
            and share.parameter not in paired]  # fmt: skip


def _share_text(share: ParameterImportance) -> str:
    return f"{share.importance:.0%} ({share.low:.0%} to {share.high:.0%})"


def _distance(name: str, value: Optional[float], metric: Mapping[str, Any]) -> str:
    threshold = float(metric["threshold"])
    wish = f"{name}: {'at most' if metric['goal'] == 'minimize' else 'at least'} {threshold:g} was asked for"
    if value is None or math.isnan(value):
        return f"{wish}, and the best trial has none"
    missing = value - threshold if metric["goal"] == "minimize" else threshold - value
    return f"{wish}, {value:g} found: {f'{missing:g} short' if missing > 0 else 'met'}"


def _value_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _at_an_end(name: str, value: Any, space: Mapping[str, Any]) -> str:
    if "min" not in space or space["min"] == space["max"]:
        return ""
    change = math.log if space.get("log") else float
    low, high, here = change(space["min"]), change(space["max"]), change(value)
    place = (here - low) / (high - low)
    if _EDGE < place < 1 - _EDGE:
        return ""
    return f"{name} {value:g} ({'lower' if place <= _EDGE else 'upper'} end)"
