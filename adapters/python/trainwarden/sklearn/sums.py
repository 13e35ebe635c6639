"""Sums: the mean loss of a linear model over rows, which scikit-learn computes in C and does not give."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

_Values = Any
_Loss = Callable[[_Values, _Values, float], _Values]  # (what the model says, what is right, epsilon) -> of each row


def _modified_huber(p: _Values, y: _Values, epsilon: float) -> _Values:
    z = p * y
    return np.where(z >= -1, np.maximum(0, 1 - z) ** 2, -4 * z)


def _huber(p: _Values, y: _Values, epsilon: float) -> _Values:
    distance = np.abs(p - y)
    return np.where(distance <= epsilon, 0.5 * distance**2, epsilon * distance - 0.5 * epsilon**2)


# By the names of the parameter `loss`; right is -1 or 1 for classifiers.
_LOSSES: dict[str, _Loss] = {
    "hinge": lambda p, y, _: np.maximum(0, 1 - p * y),
    "squared_hinge": lambda p, y, _: np.maximum(0, 1 - p * y) ** 2,
    "perceptron": lambda p, y, _: np.maximum(0, -p * y),
    "log_loss": lambda p, y, _: np.logaddexp(0, -p * y),
    "modified_huber": _modified_huber,
    "squared_error": lambda p, y, _: 0.5 * (p - y) ** 2,
    "huber": _huber,
    "epsilon_insensitive": lambda p, y, epsilon: np.maximum(0, np.abs(p - y) - epsilon),
    "squared_epsilon_insensitive": lambda p, y, epsilon: np.maximum(0, np.abs(p - y) - epsilon) ** 2,
}


def mean_loss(estimator: Any, rows: Any, right: Any) -> Optional[float]:
    """Without the penalty, over all rows alike; of several classes the mean over those. None: it is not known."""
    loss = _LOSSES.get(str(estimator.loss))
    if loss is None:
        return None
    right = np.asarray(right)
    if hasattr(estimator, "classes_"):
        said = np.asarray(estimator.decision_function(rows))
        positive = estimator.classes_[1:] if said.ndim == 1 else estimator.classes_
        right = np.where(right.reshape(-1, 1) == positive, 1.0, -1.0)
        said = said.reshape(right.shape)
    else:
        said = np.asarray(estimator.predict(rows))
        right = right.reshape(said.shape)
    return float(np.mean(loss(said, right, float(getattr(estimator, "epsilon", 0.0)))))
