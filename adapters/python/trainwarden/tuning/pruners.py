"""Pruners by Optuna's names: each says which of ours a study has (docs/reference/tune.md, "Pruners")."""

from __future__ import annotations

from typing import Optional, Union

from .. import errors


class BasePruner:
    """One of ours.

    Attributes:
        text: its name with its keys, as a study's file has it.
    """

    def __init__(self, name: str, **keys: Union[float, int, str, None]):
        said = [f"{key}={value}" for key, value in keys.items() if value is not None]
        self.text = name + (":" + ",".join(said) if said else "")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


class NopPruner(BasePruner):
    """Never prunes."""

    def __init__(self) -> None:
        super().__init__("none")


class PercentilePruner(BasePruner):
    def __init__(
        self, percentile: float, n_startup_trials: int = 5, n_warmup_steps: int = 0, interval_steps: int = 1,
        *, n_min_trials: int = 1,
    ):  # fmt: skip
        super().__init__("percentile", percentile=percentile, startup_trials=n_startup_trials,
                         warmup_steps=n_warmup_steps, interval_steps=interval_steps,
                         min_trials=n_min_trials)  # fmt: skip


class MedianPruner(BasePruner):
    def __init__(
        self, n_startup_trials: int = 5, n_warmup_steps: int = 0, interval_steps: int = 1, *, n_min_trials: int = 1
    ):
        super().__init__("median", startup_trials=n_startup_trials, warmup_steps=n_warmup_steps,
                         interval_steps=interval_steps, min_trials=n_min_trials)  # fmt: skip


class SuccessiveHalvingPruner(BasePruner):
    def __init__(
        self, min_resource: Union[str, int] = "auto", reduction_factor: int = 4, min_early_stopping_rate: int = 0,
        bootstrap_count: int = 0,
    ):  # fmt: skip
        _refuse("bootstrap_count", bootstrap_count, 0)
        super().__init__("asha", min_resource=min_resource, reduction_factor=reduction_factor,
                         early_stopping=min_early_stopping_rate)  # fmt: skip


class HyperbandPruner(BasePruner):
    def __init__(
        self, min_resource: int = 1, max_resource: Union[str, int] = "auto", reduction_factor: int = 3,
        bootstrap_count: int = 0,
    ):  # fmt: skip
        _refuse("bootstrap_count", bootstrap_count, 0)
        super().__init__("hyperband", min_resource=min_resource, max_resource=max_resource,
                         reduction_factor=reduction_factor)  # fmt: skip


class ThresholdPruner(BasePruner):
    def __init__(
        self, lower: Optional[float] = None, upper: Optional[float] = None, n_warmup_steps: int = 0,
        interval_steps: int = 1,
    ):  # fmt: skip
        _refuse("interval_steps", interval_steps, 1)
        super().__init__("threshold", min=lower, max=upper, warmup_steps=n_warmup_steps)


class PatientPruner(BasePruner):
    def __init__(self, wrapped_pruner: Optional[BasePruner], patience: int, min_delta: float = 0.0):
        super().__init__("patient", patience=patience, min_delta=min_delta)
        if wrapped_pruner is not None:
            self.text += f"+{wrapped_pruner.text}"


class WilcoxonPruner(BasePruner):
    def __init__(self, *, p_threshold: float = 0.1, n_startup_steps: int = 2):
        super().__init__("wilcoxon", p_threshold=p_threshold, startup_steps=n_startup_steps)


def _refuse(name: str, value: object, only: object) -> None:
    if value != only:
        raise errors.InvalidArgument(f"{name}: expected {only}, ours has no other, found {value}")
