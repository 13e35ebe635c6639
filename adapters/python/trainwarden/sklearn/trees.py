"""The trees of one round as columns, one row a node, named as those of XGBoost. The root is 0, and the children of i
are 2i + 1 and 2i + 2, so that a node's number tells its depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..boosting.training import Column

COLUMNS = ("Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Gain", "Cover")
_NUMBERS = {"Tree": np.int64, "Node": np.int64, "Split": np.float64, "Gain": np.float64, "Cover": np.float64}
_MAX_NODE = 2**62 - 1  # deeper nodes all have this number; their IDs go on


class Nodes(NamedTuple):
    """Of a tree: arrays with an element for each node, the root first."""

    feature: Any
    threshold: Any
    left: Any
    right: Any
    is_leaf: Any
    gain: Any
    cover: Any
    value: Any  # of a leaf


def of_decision_tree(tree: Any) -> Nodes:
    """Of a regressor's tree_. The gain is what the split takes from the impurity of the rows in it."""
    left, right = tree.children_left, tree.children_right
    weighted = tree.impurity * tree.weighted_n_node_samples
    is_leaf = left < 0
    gain = np.where(is_leaf, 0.0, weighted - weighted[left] - weighted[right])
    value = tree.value[:, 0, 0]
    return Nodes(tree.feature, tree.threshold, left, right, is_leaf, gain, tree.weighted_n_node_samples, value)


def of_predictor(nodes: Any) -> Nodes:
    """Of a tree over histograms. A split by categories has no number."""
    threshold = np.where(nodes["is_categorical"] > 0, np.nan, nodes["num_threshold"])
    is_leaf = nodes["is_leaf"] > 0
    return Nodes(
        nodes["feature_idx"], threshold, nodes["left"], nodes["right"], is_leaf, nodes["gain"], nodes["count"],
        nodes["value"],
    )  # fmt: skip


def columns_of(trees: Sequence[Nodes], first_tree: int, features: list[str]) -> dict[str, Column]:
    """By "trees/COLUMN", all of the same length. A leaf has the feature "Leaf" and its value as its gain; it has no
    split (NaN) and no children ("")."""
    rows: list[tuple[Any, ...]] = []
    for number, nodes in enumerate(trees, start=first_tree):
        waiting = [(0, 0)]  # the number that a node gets, and where it is
        while waiting:
            node, at = waiting.pop()
            rows.append(_row(number, node, at, nodes, features))
            if not nodes.is_leaf[at]:
                waiting += [(2 * node + 1, int(nodes.left[at])), (2 * node + 2, int(nodes.right[at]))]
    rows.sort(key=lambda row: (row[0], row[1]))
    columns = list(zip(*rows)) if rows else [()] * len(COLUMNS)
    return {
        f"trees/{name}": np.asarray(column, _NUMBERS[name]) if name in _NUMBERS else list(column)
        for name, column in zip(COLUMNS, columns)
    }


def _row(tree: int, node: int, at: int, nodes: Nodes, features: list[str]) -> tuple[Any, ...]:
    number, identity, cover = min(node, _MAX_NODE), f"{tree}-{node}", float(nodes.cover[at])
    if nodes.is_leaf[at]:
        return (tree, number, identity, "Leaf", np.nan, "", "", float(nodes.value[at]), cover)
    children = (f"{tree}-{2 * node + 1}", f"{tree}-{2 * node + 2}")
    feature = features[int(nodes.feature[at])]
    return (tree, number, identity, feature, float(nodes.threshold[at]), *children, float(nodes.gain[at]), cover)
