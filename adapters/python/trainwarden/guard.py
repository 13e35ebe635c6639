"""Guard: rules that judge inside the training process, before an optimizer steps.

    with trainwarden.Hook("runs/first", include_collections=["gradients"], keep="statistics") as hook:
        hook.guard("ExplodingTensor", on_fire="skip_step")
        for batch in data:
            ...                                        # forward, backward; save losses and gradients
            if hook.judge() is StepAdvice.PROCEED:
                optimizer.step()                       # else the weights stay as they are
            if hook.step().stop_requested:
                break

trainwarden.torch calls judge() by itself. `trainwarden run --inside` does all of this for an unchanged program.
"""

from __future__ import annotations

import os
from enum import Enum
from typing import Any


class StepAdvice(str, Enum):
    """Whether the optimizer may make its next step."""

    PROCEED = "proceed"  # make it
    SKIP_STEP = "skip_step"  # leave it out: the weights and the optimizer's state stay as they are
    STOP = "stop"  # leave it out and end the training


def may_veto(hook: Any) -> bool:
    """Of an attached program's hook: can what its rules say inside the training keep a step from happening?"""
    return bool(hook.is_guarded) and os.environ.get("TRAINWARDEN_ON_FIRE", "") not in ("", "report")


def may_skip(hook: Any) -> bool:
    """The same, of rules that do not end the training with that."""
    return may_veto(hook) and os.environ["TRAINWARDEN_ON_FIRE"] != "stop"
