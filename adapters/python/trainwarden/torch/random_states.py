"""Random states: what the generators of random numbers stood at when a step began, for the black box."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import torch

_PREFIX = "trainwarden/rng/"


def remember_random_states(hook: Any) -> None:
    """Hands the states of all generators in use to hook.remember(), each as an array. None of them is moved on.

    torch and cuda/N as their get_rng_state() gives them (uint8); python: the version and the numbers of
    random.getstate() (uint32, 626); numpy: the 624 numbers of MT19937 and the position (uint32, 625).
    """
    hook.remember(_PREFIX + "torch", torch.get_rng_state().numpy())
    version, numbers, _ = random.getstate()
    hook.remember(_PREFIX + "python", np.array((version, *numbers), np.uint32))
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        kind, keys, position, *_ = numpy_random.get_state()
        if kind == "MT19937":
            hook.remember(_PREFIX + "numpy", np.append(keys, np.uint32(position)))
    if torch.cuda.is_initialized():
        for index in range(torch.cuda.device_count()):
            hook.remember(f"{_PREFIX}cuda/{index}", torch.cuda.get_rng_state(index).numpy())
