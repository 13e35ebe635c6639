"""Runs of ours that several tests read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import trainwarden
from trainwarden import Collection


def weight_at(step: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.arange(6, dtype=np.float32).reshape(2, 3) + step


def write_modes(folder: Path) -> None:
    """Global steps 0 to 5 are TRAIN 0 to 3, EVAL 0 and 1. "weight" whole at even global steps, "loss" at each, and of
    "gradient/weight" statistics."""
    gradients = Collection("gradients", keep="statistics")
    weights = Collection("weights", tensor_names=["weight"])
    with trainwarden.Hook(folder, collections=[weights, gradients], save=1) as hook:
        for step, mode in enumerate(["train", "train", "eval", "train", "train", "eval"]):
            hook.set_mode(mode)
            hook.save_scalar("loss", 1.0 / (step + 1))
            if step % 2 == 0:
                hook.save_tensor("weight", weight_at(step))
            if mode == "train":
                hook.save_tensor("gradient/weight", weight_at(-step))
            hook.step()
