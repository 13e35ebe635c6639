"""Samplers by Optuna's names: each says which of ours a study has (docs/reference/tune.md, "Samplers").

`seed` is the study's. What else Optuna's have is not there: ours chooses it by the space and the number of trials.
"""

from __future__ import annotations

from typing import Any, Optional

from .. import errors


class BaseSampler:
    """One of ours by name.

    Attributes:
        text: its name.
        seed: of the study; None: the study's own.
    """

    text = "auto"
    _ours: tuple[str, ...] = ()  # options that ours has in any case

    def __init__(self, *, seed: Optional[int] = None, **options: Any):
        unknown = [name for name in options if name not in self._ours]
        if unknown:
            raise errors.InvalidArgument(
                f"{type(self).__name__}: expected seed, found {', '.join(unknown)}: ours chooses the rest by the space"
            )
        self.seed = seed

    def __repr__(self) -> str:
        return f"{type(self).__name__}(seed={self.seed})"


class TPESampler(BaseSampler):
    """tpe, which is always multivariate, by groups, and counts on trials that run: `multivariate`, `group` and
    `constant_liar` change nothing."""

    text, _ours = "tpe", ("multivariate", "group", "constant_liar")


class RandomSampler(BaseSampler):
    text = "random"

    def __init__(self, seed: Optional[int] = None):
        super().__init__(seed=seed)


class GPSampler(BaseSampler):
    text = "gp"


class CmaEsSampler(BaseSampler):
    text = "cmaes"


class NSGAIISampler(BaseSampler):
    text = "nsga2"


class QMCSampler(BaseSampler):
    """sobol; `scramble` and `qmc_type="sobol"` are what it is."""

    text, _ours = "sobol", ("scramble",)
