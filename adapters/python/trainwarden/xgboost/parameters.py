"""The hyper-parameters of a training: what the program gave, and what the booster really uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..boosting.parameters import as_given

# What the booster's own configuration says of the training as a whole, by the names that programs give.
_OF_THE_BOOSTER = (
    ("objective", ("learner", "objective", "name")),
    ("booster", ("learner", "learner_train_param", "booster")),
    ("num_class", ("learner", "learner_model_param", "num_class")),
    ("eta", ("learner", "gradient_booster", "tree_train_param", "eta")),
    ("max_depth", ("learner", "gradient_booster", "tree_train_param", "max_depth")),
    ("tree_method", ("learner", "gradient_booster", "gbtree_train_param", "tree_method")),
)
# Two names for one parameter: who gave the second has said what the first is.
_ALIASES = {"eta": "learning_rate"}


def effective(params: Any, model: Any) -> dict[str, Any]:
    """The parameters as given, and those that were not given but matter most, as the booster has them."""
    parameters = as_given(params)
    config = json.loads(model.save_config())
    for name, place in _OF_THE_BOOSTER:
        value: Any = config
        for key in place:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None and name not in parameters and _ALIASES.get(name) not in parameters:
            parameters[name] = value
    return parameters
