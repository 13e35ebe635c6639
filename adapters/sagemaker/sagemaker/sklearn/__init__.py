"""SKLearnProcessor: the processor of steps with scikit-learn. Its estimator is not here."""

from __future__ import annotations

from .processing import SKLearnProcessor

__all__ = ["SKLearnProcessor"]
