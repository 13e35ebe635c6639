"""What an examination reads from sequences that are padded: what targets are to inputs, and what a loss counts."""

from __future__ import annotations

import math
from typing import Optional

import pytest
import torch
from measured import named
from torch import nn

from trainwarden.torch.examination.batches import Compared
from trainwarden.torch.examination.numbers import Numbers
from trainwarden.torch.examination.step_look import StepLook
from trainwarden.torch.loss_options import LossOptions, options_of_call, options_of_module


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


_REAL = torch.arange(12)[None] < torch.tensor([12, 3, 5, 9, 4, 8, 6, 10])[:, None]


def padding_of_steps(ignored: int, order: list[str]) -> dict[str, list[float]]:
    """Of a step with two losses: what the whole utterance means, and a tag for each of its tokens."""
    torch.manual_seed(0)
    tokens, tags = torch.randint(1, 9, (8, 12)) * _REAL, torch.randint(1, 5, (8, 12)) * _REAL
    compared = {"intent": (torch.randn(8, 3), torch.randint(0, 3, (8,))), "tags": (torch.randn(8, 5, 12), tags)}
    look = StepLook(None)
    look.see_inputs(None, [tokens], wants_gradients=True)
    for each in order:
        value = torch.nn.functional.cross_entropy(*compared[each], ignore_index=ignored)
        look.compared("cross_entropy", compared[each], value, LossOptions(ignored))
    return named(look.numbers)


def test_padding_of_a_second_loss() -> None:
    counted = padding_of_steps(-100, ["intent", "tags"])
    share, varies, without = counted["padding1"]
    assert share == pytest.approx(1 - _REAL.float().mean().item()) and varies > 0.1
    assert counted["plain_loss1"] == pytest.approx(counted["compared_loss1"])
    assert abs(without / counted["compared_loss1"][0] - 1) > 0.01
    assert counted["compared_loss"] != counted["compared_loss1"]
    left_out = padding_of_steps(0, ["intent", "tags"])
    assert left_out["compared_loss1"] == pytest.approx([without]) and left_out["padding1"][2] == pytest.approx(without)


def test_padding_of_the_first_loss_that_has_sequences() -> None:
    first = padding_of_steps(-100, ["tags", "intent", "tags"])
    assert len(first["padding"]) == 3 and first.keys().isdisjoint(["padding1", "plain_loss1", "compared_loss1"])
    assert first["lengths"] == [0, 1]
    assert padding_of_steps(-100, ["intent", "intent"]).keys().isdisjoint(["padding", "padding1", "plain_loss1"])


def weights_seen(loss: nn.Module, predicted: torch.Tensor, target: torch.Tensor) -> dict[str, list[float]]:
    numbers = Numbers()
    Compared("cross_entropy", (predicted, target), options_of_module(loss)).add(numbers, "")
    return {name: values for name, values in named(numbers).items() if name in ("class_weights", "positive_weight")}


def test_weights_of_classes_and_of_positives() -> None:
    scores, labels, ones = torch.randn(6, 3), torch.tensor([0, 1, 2, 0, 1, 0]), torch.ones(6, 2)
    weights = torch.tensor([0.5, 1.0, 2.0])
    assert weights_seen(nn.CrossEntropyLoss(weights), scores, labels) == {"class_weights": [0.5, 1, 2]}
    assert weights_seen(nn.CrossEntropyLoss(), scores, labels) == {}
    assert weights_seen(nn.BCEWithLogitsLoss(pos_weight=torch.tensor([9.0])), ones, ones) == {"positive_weight": [9, 9]}
    assert weights_seen(nn.BCEWithLogitsLoss(pos_weight=torch.ones(3)), ones, ones) == {}, "of as many columns as there are"
    assert options_of_call((scores, labels, weights), {}).class_weights is weights
    assert options_of_call((scores, labels), {"weight": weights, "ignore_index": 2}) == (2, weights, None)
    assert options_of_call((scores, labels, None), {"pos_weight": weights}).positive_weight is weights
