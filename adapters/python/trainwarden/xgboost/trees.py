"""The trees of one round as columns, one row a node: those of Booster.trees_to_dataframe, without pandas and without
reading the trees of earlier rounds again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..boosting.training import Column

_WHOLE, _REAL = ("Tree", "Node", "Depth"), ("Split", "Gain", "Cover")
_NUMBERS = {**dict.fromkeys(_WHOLE, np.int64), **dict.fromkeys(_REAL, np.float64)}
COLUMNS = ("Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Missing", "Gain", "Cover")
ALL_COLUMNS = (*COLUMNS, "Depth")  # XGBoost numbers nodes as they grow: of a lopsided tree they do not tell its depth


def columns_of(dumps: list[str], first_tree: int) -> dict[str, Column]:
    """ALL_COLUMNS by name; all of the same length.

    Arguments:
        dumps: a tree each, as Booster.get_dump(dump_format="json", with_stats=True) writes it.
        first_tree: the number of the first of them in the whole model.

    A leaf has the feature "Leaf" and its value as its gain; it has no split (NaN) and no children ("").
    """
    rows: list[tuple[Any, ...]] = []
    for number, dump in enumerate(dumps, start=first_tree):
        waiting = [(json.loads(dump), 0)]
        while waiting:
            node, depth = waiting.pop()
            rows.append((*_row(number, node), depth))
            waiting += [(child, depth + 1) for child in node.get("children", [])]
    rows.sort(key=lambda row: (row[0], row[1]))
    columns = list(zip(*rows)) if rows else [()] * len(ALL_COLUMNS)
    return {
        name: np.asarray(column, _NUMBERS[name]) if name in _NUMBERS else list(column)
        for name, column in zip(ALL_COLUMNS, columns)
    }


def _row(tree: int, node: dict[str, Any]) -> tuple[Any, ...]:
    number = node["nodeid"]
    identity = f"{tree}-{number}"
    cover = node.get("cover", np.nan)
    if "leaf" in node:
        leaf = node["leaf"]  # a list in a tree with several outputs
        value = float(np.sum(leaf)) if isinstance(leaf, list) else leaf
        return (tree, number, identity, "Leaf", np.nan, "", "", "", value, cover)
    split = node.get("split_condition", np.nan)  # a list where a categorical feature is split
    threshold = split if isinstance(split, (int, float)) else np.nan
    children = [f"{tree}-{node[key]}" if key in node else "" for key in ("yes", "no", "missing")]
    return (tree, number, identity, node["split"], threshold, *children, node.get("gain", np.nan), cover)
