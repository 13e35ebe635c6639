"""States of random generators, as the black box is given them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch

from trainwarden.torch.random_states import remember_random_states


class Box:
    """What stands for the hook."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def remember(self, name: str, array: Any) -> None:
        self.kept[name.removeprefix("trainwarden/rng/")] = np.array(array)


def draw() -> tuple[float, float, float]:
    return torch.rand(1).item(), random.random(), float(np.random.random())


def test_the_states_bring_the_same_numbers_again() -> None:
    box = Box()
    remember_random_states(box)
    drawn = draw()
    kept = box.kept
    assert {name: (array.dtype, array.shape) for name, array in kept.items() if name != "torch"} == {
        "python": (np.uint32, (626,)),
        "numpy": (np.uint32, (625,)),
    }
    assert draw() != drawn
    torch.set_rng_state(torch.from_numpy(kept["torch"]))
    version, *numbers = kept["python"].tolist()
    random.setstate((version, tuple(numbers), None))
    np.random.set_state(("MT19937", kept["numpy"][:-1], int(kept["numpy"][-1])))
    assert draw() == drawn
