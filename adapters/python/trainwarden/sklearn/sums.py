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


_ROWS_AT_ONCE = 1 << 16

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
    """Without the penalty, over all rows alike; of several classes the mean over those. None: it is not known.

    By the weights, and so many rows at a time: methods of the estimator may be the program's, and look at features'
    names, and what they give for all rows is large.
    """
    loss = _LOSSES.get(str(estimator.loss))
    if loss is None:
        return None
    epsilon = float(getattr(estimator, "epsilon", 0.0))
    right = np.asarray(right)
    total, count = 0.0, 0
    with np.errstate(all="ignore"):
        for begin in range(0, len(right), _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            said = np.asarray(rows[part] @ estimator.coef_.T.reshape(rows.shape[1], -1)) + estimator.intercept_
            losses = loss(said, _meant(estimator, right[part], said), epsilon)
            total, count = total + float(np.sum(losses)), count + losses.size
    return total / count if count else None


def _meant(estimator: Any, right: _Values, said: _Values) -> _Values:
    """The right answers for these rows, as the loss has them: a column for each one of the model's."""
    if not hasattr(estimator, "classes_"):
        return right.reshape(said.shape)
    positive = estimator.classes_[1:] if said.shape[1] == 1 else estimator.classes_
    return np.where(right.reshape(-1, 1) == positive, 1.0, -1.0)
