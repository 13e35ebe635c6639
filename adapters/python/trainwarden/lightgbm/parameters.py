"""The hyper-parameters of a training: what the program gave, and what LightGBM really uses."""

from __future__ import annotations

from typing import Any

from ..boosting.parameters import as_given

# Of the hundred and more of LightGBM those that matter most, by its own names.
_MATTER_MOST = (
    "objective", "boosting", "num_class", "learning_rate", "num_leaves", "max_depth", "min_data_in_leaf", "metric"
)  # fmt: skip

_ROUNDS = (
    "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds",
    "num_boost_round", "n_estimators", "max_iter",
)  # fmt: skip


def effective(params: Any, model: Any) -> dict[str, Any]:
    """The parameters as given, and those that matter most as the booster has them."""
    parameters = as_given(params)
    used = _used(model.model_to_string(num_iteration=1))
    for name in _MATTER_MOST:
        if name in used and name not in parameters:
            parameters[name] = used[name]
    return parameters


def rounds_of(params: Any, otherwise: int) -> int:
    """Which of its many names the program gave; the argument of train() has the word where it gave none."""
    given = as_given(params)
    found = [given[name] for name in _ROUNDS if name in given]
    return int(found[0]) if found else otherwise


def _used(text: str) -> dict[str, str]:
    """The lines "[NAME: VALUE]" that stand behind the trees of a model's text."""
    lines = text[text.rfind("\nparameters:") :].splitlines()
    pairs = (line[1:-1].split(": ", 1) for line in lines if line.startswith("[") and line.endswith("]"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[1]}
