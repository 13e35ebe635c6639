"""The place of this process among the workers of a cluster, as TF_CONFIG says it for TensorFlow."""

from __future__ import annotations

import json
import os
from typing import Optional

_TRAINING = ("chief", "master", "worker")  # in the order of their ranks; not servers of parameters, nor who evaluates


def rank_and_size() -> Optional[tuple[int, int]]:
    """None where it says nothing, and the environment has the word."""
    try:
        config = json.loads(os.environ.get("TF_CONFIG", "") or "{}")
        task, index = str(config["task"]["type"]), int(config["task"]["index"])
        sizes = {kind: len(config["cluster"].get(kind, ())) for kind in _TRAINING}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if sum(sizes.values()) < 2 or task not in _TRAINING:
        return None
    before = _TRAINING[: _TRAINING.index(task)]
    return sum(sizes[kind] for kind in before) + index, sum(sizes.values())
