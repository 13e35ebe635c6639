"""The trees of one round as columns, one row a node, named as those of XGBoost."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..boosting.training import Column

COLUMNS = ("Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Missing", "Gain", "Cover")
_NUMBERS = {"Tree": np.int64, "Node": np.int64, "Split": np.float64, "Gain": np.float64, "Cover": np.float64}
_MAX_NODE = 2**62 - 1  # deeper nodes all have this number; their IDs go on


def columns_of(trees: list[dict[str, Any]], features: list[str]) -> dict[str, Column]:
    """By name; all of the same length.

    Arguments:
        trees: "tree_info" of Booster.dump_model().
        features: the names of the model's features.

    LightGBM numbers splits and leaves apart, in the order in which they grew. Here the root is 0, and the children of i
    are 2i + 1 and 2i + 2, so that a node's number tells its depth. A leaf has the feature "Leaf" and its value as its
    gain; it has no split (NaN) and no children (""). So has a split by categories: their list is no number.
    """
    rows: list[tuple[Any, ...]] = []
    for tree in trees:
        number = int(tree["tree_index"])
        waiting = [(0, tree["tree_structure"])]
        while waiting:
            node, structure = waiting.pop()
            rows.append(_row(number, node, structure, features))
            for child, key in enumerate(("left_child", "right_child"), start=2 * node + 1):
                if key in structure:
                    waiting.append((child, structure[key]))
    rows.sort(key=lambda row: (row[0], row[1]))
    columns = list(zip(*rows)) if rows else [()] * len(COLUMNS)
    return {
        name: np.asarray(column, _NUMBERS[name]) if name in _NUMBERS else list(column)
        for name, column in zip(COLUMNS, columns)
    }


def _row(tree: int, node: int, structure: dict[str, Any], features: list[str]) -> tuple[Any, ...]:
    number, identity = min(node, _MAX_NODE), f"{tree}-{node}"
    if "split_feature" not in structure:
        cover = structure.get("leaf_count", np.nan)
        return (tree, number, identity, "Leaf", np.nan, "", "", "", structure["leaf_value"], cover)
    threshold = structure["threshold"]
    split = threshold if isinstance(threshold, (int, float)) else np.nan
    left, right = f"{tree}-{2 * node + 1}", f"{tree}-{2 * node + 2}"
    missing = left if structure.get("default_left") else right
    gain, cover = structure.get("split_gain", np.nan), structure.get("internal_count", np.nan)
    return (tree, number, identity, features[structure["split_feature"]], split, left, right, missing, gain, cover)
