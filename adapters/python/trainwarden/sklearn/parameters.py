"""The parameters of an estimator, without a call of its class's code: that may be derived from scikit-learn's."""

from __future__ import annotations

import inspect
from typing import Any

from ..boosting.parameters import as_given


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Those that scikit-learn's own class has, each from where scikit-learn wants it: an attribute of its name."""
    kind = next(each for each in type(estimator).__mro__ if each.__module__.partition(".")[0] == "sklearn")
    attributes = object.__getattribute__(estimator, "__dict__")
    given = {name: attributes.get(name) for name in inspect.signature(kind).parameters}
    return {"estimator": type(estimator).__name__, **as_given(given)}
