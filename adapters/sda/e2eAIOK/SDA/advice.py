"""What to try next: a sentence that follows from the trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from trainwarden.tuning import Outcome, TrialRecord

_EDGE = 0.02  # of a range
_LONG = 5  # trials


def advice(
    outcome: Outcome, trials: Sequence[TrialRecord], best: Optional[TrialRecord], space: Mapping[str, Any], searches:
    bool
) -> str:
    """`space`: the parameters of the study. `searches`: whether values are searched, not given."""
    if outcome.has_target and outcome.is_met:
        return "Next: nothing is needed, the target is met."
    if best is None:
        failed = next((trial for trial in trials if trial.state == "failed"), None)
        return f"Next: mend what fails; trial {failed.number}: {failed.why}" if failed else "Next: launch()."
    if not searches:
        return "Next: this was one training with given values; enable_sigopt = True searches better ones."
    ends = [text for name, value in best.params.items() if (text := _at_an_end(name, value, space[name]))]
    if ends:
        return f"Next: widen the range where the best lies at its end: {', '.join(ends)}."
    since = sum(trial.number > best.number and trial.state == "complete" for trial in trials)
    if since >= _LONG:
        return f"Next: search other parameters: {since} trials since trial {best.number} were no better."
    since_text = "the last trial was the best" if since == 0 else f"the best has only {since} trials behind it"
    return f"Next: raise observation_budget: {since_text}."


def _at_an_end(name: str, value: Any, space: Mapping[str, Any]) -> str:
    if "min" not in space or space["min"] == space["max"]:
        return ""
    change = math.log if space.get("log") else float
    low, high, here = change(space["min"]), change(space["max"]), change(value)
    place = (here - low) / (high - low)
    if _EDGE < place < 1 - _EDGE:
        return ""
    return f"{name} {value:g} ({'lower' if place <= _EDGE else 'upper'} end)"
