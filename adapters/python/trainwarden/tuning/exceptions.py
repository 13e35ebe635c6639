"""Errors by Optuna's names. All others are those of trainwarden.errors."""

from __future__ import annotations

from .. import errors
from .trial import TrialPruned

OptunaError = errors.Error


class DuplicatedStudyError(errors.FailedPrecondition):
    """There is a study of this name already."""


__all__ = ["DuplicatedStudyError", "OptunaError", "TrialPruned"]
