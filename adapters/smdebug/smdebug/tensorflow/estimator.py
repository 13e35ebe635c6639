"""EstimatorHook: saves what an estimator trains, evaluates and predicts."""

from __future__ import annotations

from .session import SessionHook


class EstimatorHook(SessionHook):
    """The hook of a session that an estimator makes.

        hook = smd.EstimatorHook("runs/first")
        hook.set_mode(smd.modes.TRAIN)
        estimator.train(batches, hooks=[hook])

    Each batch is a step of the mode that was set. Arguments and errors: BaseHook.
    """
