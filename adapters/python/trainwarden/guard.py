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

from enum import Enum


class StepAdvice(str, Enum):
    """Whether the optimizer may make its next step."""

    PROCEED = "proceed"  # make it
    SKIP_STEP = "skip_step"  # leave it out: the weights and the optimizer's state stay as they are
    STOP = "stop"  # leave it out and end the training
