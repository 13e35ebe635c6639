"""Quiet steps: what has to be known of a step of which nothing is kept, so that its calls are counted and nobody is notified."""

from __future__ import annotations

from typing import Optional

from .listeners import Quiet
from .models import KnownModel
from .recorder import Recorder


def quiet_part(
    counts: Quiet, recorder: Recorder, models: list[KnownModel], stepping: Optional[tuple[int, ...]]
) -> Optional[Quiet]:
    """`counts`, with the calls that count; None where counting alone is not enough. `stepping`: ids of the optimizers that
    step in a train step, in their order; none where that is not known; None: it is no train step."""
    odd = any(model.trains_in_eval for model in models)
    if recorder.examiner.looks or not recorder.is_idle or recorder.hook.is_guarded or odd:
        return None
    if stepping is not None:
        trained = frozenset(key for model in models if model.trained_by for key in map(id, model.entries))
        teachers = frozenset(key for model in models if model.is_teacher for key in map(id, model.entries))
        quiet = counts._replace(ungraded=recorder.examiner.quiet_forward_begins)
        return quiet._replace(optimizers=stepping, in_train=trained, ignored=teachers)
    # Calls within calls are no steps of their own: counting alone does not show that.
    only = models[0].entries if len(models) == 1 else []
    return counts._replace(counted=frozenset(map(id, only))) if len(only) == 1 else None
