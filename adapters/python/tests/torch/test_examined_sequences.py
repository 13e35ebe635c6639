"""What an examination reads from sequences that are padded: what targets are to inputs, and what a loss counts."""

from __future__ import annotations

import math
from typing import Optional

import pytest
import torch

from trainwarden.torch.examination.batches import Compared
from trainwarden.torch.examination.numbers import Numbers


def shift_match(tokens: torch.Tensor, target: torch.Tensor) -> Optional[list[float]]:
    numbers = Numbers()
    Compared("cross_entropy", (torch.zeros(*target.shape, 9), target)).add_relation(numbers, tokens)
    return numbers.tensor().tolist() if numbers.has("shift_match") else None


def test_tokens_that_targets_are() -> None:
    tokens = torch.arange(40).reshape(2, 20)
    assert shift_match(tokens, tokens[:, 2:].reshape(-1)) == [0, 0, 1, 0]
    assert shift_match(tokens, tokens + 1) == [0, 1, 0, 0]
    assert shift_match(tokens, torch.arange(2)) is None


@pytest.mark.parametrize("side", ["end", "beginning"])
@pytest.mark.parametrize("shift", [0, 1, 2])
def test_tokens_of_which_the_program_takes_the_real_ones(side: str, shift: int) -> None:
    torch.manual_seed(0)
    lengths = torch.randint(4, 13, (16, 1))
    series = torch.randint(1, 500, (16, 14))
    places = torch.arange(12)[None]
    real = places < lengths if side == "end" else places >= 12 - lengths
    tokens, wanted = series[:, :12] * real, series[:, shift : shift + 12][real]
    matches = shift_match(tokens, wanted)
    assert matches is not None and matches[shift] == 1 and sum(matches) < 1.1
    others = shift_match(tokens, wanted[:-1])
    assert others is not None and all(math.isnan(each) for each in others)
    assert shift_match(tokens, series[:, 0]) is None  # one for each sample


def test_few_tokens_say_nothing_of_far_shifts() -> None:
    tokens = torch.tensor([[5, 6, 0, 0, 0]] * 7 + [[5, 6, 7, 8, 0]])
    wanted = torch.tensor([1, 2] * 7 + [8, 2, 3, 4])
    assert shift_match(tokens, wanted) == [0, 0, 0, 0.25]
