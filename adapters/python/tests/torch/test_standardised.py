"""Standardised: samples that were prepared by their own mean and deviation are told from those that were not."""

import pytest
import torch

from trainwarden.torch.examination.numbers import Numbers
from trainwarden.torch.examination.standardised import Standardised


def found(*batches):
    numbers, standardised = Numbers(), Standardised()
    for batch in batches:
        standardised.see(batch)
    standardised.add(numbers, "here")
    return numbers.tensor().tolist()


@pytest.mark.parametrize("is_unbiased", [True, False])
def test_what_was_standardised_by_itself(is_unbiased):
    torch.manual_seed(0)
    samples = torch.randn(500, 6) * 3 + 100
    mean, deviation = samples.mean(dim=0), samples.std(dim=0, unbiased=is_unbiased)
    assert found(*((samples - mean) / deviation).split(64)) == [500, 6, 6]
    others = torch.randn(500, 6) * 3 + 100
    assert found((others - mean) / deviation) == [500, 0, 6]


def test_features_that_are_left_as_they_are():
    samples = torch.randn(100, 4)
    samples[:, :2] = (samples[:, :2] - samples[:, :2].mean(dim=0)) / samples[:, :2].std(dim=0)
    samples[:, 2] = (samples[:, 2] > 0).float()
    samples[:, 3] = 7
    assert found(samples) == [100, 2, 3]


@pytest.mark.parametrize(
    "batches",
    [
        [],
        [torch.randn(8, 4)],  # too few
        [torch.randn(64, 4), torch.randn(64, 5)],
        [torch.randn(64, 4), torch.randn(1 << 17, 4)],  # too many to look at
        [torch.randn(64)],
        [torch.randn(64, 3, 4)],
        [torch.randint(0, 9, (64, 4))],
        [torch.randn(64, 1)],
    ],
)
def test_what_tells_nothing(batches):
    assert found(*batches) == []


def test_what_is_not_finite_is_not_standardised():
    samples = torch.randn(100, 2)
    samples[3, 0] = float("nan")
    samples[:, 1] = (samples[:, 1] - samples[:, 1].mean()) / samples[:, 1].std()
    assert found(samples) == [100, 1, 1]
