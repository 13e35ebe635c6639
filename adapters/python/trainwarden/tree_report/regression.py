"""How far predictions of numbers are off."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ..arrays import Array

_BARS = 30
_LABEL_BINS = 10


def histogram_of(values: Array, bars: int = _BARS) -> dict[str, Any]:
    """Of the finite ones."""
    finite = np.asarray(values, np.float64)[np.isfinite(values)]
    counts, edges = np.histogram(finite, bins=bars)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def errors_of(labels: Array, predictions: Array) -> dict[str, Any]:
    """Residuals are label - prediction."""
    labels, predictions = np.asarray(labels, np.float64), np.asarray(predictions, np.float64)
    residuals = labels - predictions
    spread = float(((labels - labels.mean()) ** 2).sum())
    return {
        "mean_absolute_error": float(np.abs(residuals).mean()),
        "root_mean_squared_error": float(np.sqrt((residuals**2).mean())),
        "r2": 1 - float((residuals**2).sum()) / spread if spread > 0 else None,
        "mean_residual": float(residuals.mean()),
        "residuals": histogram_of(residuals),
    }


def label_edges(labels: Array) -> Array:
    """Of bins of the same width."""
    finite = np.asarray(labels, np.float64)[np.isfinite(labels)]
    return np.histogram_bin_edges(finite, bins=_LABEL_BINS)


def absolute_errors_by_bin(labels: Array, predictions: Array, edges: Array) -> list[Optional[float]]:
    """The mean of each bin of labels; None: no row is in it."""
    places = np.clip(np.searchsorted(edges, labels, side="right") - 1, 0, len(edges) - 2)
    errors = np.abs(np.asarray(labels, np.float64) - predictions)
    sums = np.bincount(places, errors, minlength=len(edges) - 1)
    rows = np.bincount(places, minlength=len(edges) - 1)
    return [float(total / count) if count else None for total, count in zip(sums, rows)]
