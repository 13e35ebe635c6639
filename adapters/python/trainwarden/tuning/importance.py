"""How much each parameter of a study mattered, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from .records import number_of


@dataclass(frozen=True)
class ParameterImportance:
    """The share of a parameter.

    Attributes:
        parameter: its name.
        importance: in [0, 1].
        low, high: nine in ten of trials drawn anew have the share between them; low = 0: it may be nothing.
    """

    parameter: str
    importance: float
    low: float
    high: float


@dataclass(frozen=True)
class PairImportance:
    """The share of two parameters together, beyond what each has alone.

    Attributes:
        parameters: their names.
        importance, low, high: as of ParameterImportance.
    """

    parameters: tuple[str, str]
    importance: float
    low: float
    high: float


@dataclass(frozen=True)
class ForestImportance:
    """What makes trials differ over the whole space (fANOVA).

    Attributes:
        r2: how much the forest explains of trials that it has not seen: 1 is all, 0 or less nothing; None: not known.
        trusted: whether that is enough to say anything; else the lists are empty.
        single: the shares of parameters, the largest first.
        pairs: those of two together, the ten largest.
    """

    r2: Optional[float]
    trusted: bool
    single: list[ParameterImportance]
    pairs: list[PairImportance]


@dataclass(frozen=True)
class Importance:
    """How much each parameter mattered. Shares sum to 1 or less.

    Attributes:
        study: its name.
        metric: for which.
        trials: how many complete ones were used.
        left_out: how many ended without a finite value of the metric.
        note: why nothing or little can be said, for people; empty where there is nothing to add.
        ped_anova: what makes a trial one of the best, the largest first; empty where nothing can be said.
        fanova: what makes trials differ over the whole space; None where nothing can be said.
    """

    study: str
    metric: str
    trials: int
    left_out: int
    note: str
    ped_anova: list[ParameterImportance]
    fanova: Optional[ForestImportance]


def importance_of(answer: Mapping[str, Any]) -> Importance:
    """Of `trainwarden study importance --json`."""
    return Importance(
        study=answer["study"],
        metric=answer["metric"],
        trials=answer["trials"],
        left_out=answer["left_out"],
        note=answer["note"],
        ped_anova=[_single(share) for share in answer["ped_anova"]],
        fanova=_forest(answer["fanova"]) if answer["fanova"] is not None else None,
    )


def _forest(answer: Mapping[str, Any]) -> ForestImportance:
    return ForestImportance(
        r2=number_of(answer["r2"]) if answer["r2"] is not None else None,
        trusted=answer["trusted"],
        single=[_single(share) for share in answer["single"]],
        pairs=[_pair(share) for share in answer["pairs"]],
    )


def _single(answer: Mapping[str, Any]) -> ParameterImportance:
    return ParameterImportance(answer["parameter"], *_numbers(answer))


def _pair(answer: Mapping[str, Any]) -> PairImportance:
    first, second = answer["parameters"]
    return PairImportance((first, second), *_numbers(answer))


def _numbers(answer: Mapping[str, Any]) -> tuple[float, float, float]:
    return number_of(answer["importance"]), number_of(answer["low"]), number_of(answer["high"])
