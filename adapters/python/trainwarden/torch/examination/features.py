"""Features: what the single features of what a model gets are like, so that an evaluation can be compared with the
training, feature by feature."""

from __future__ import annotations

from typing import Optional

import torch

from .numbers import Numbers

_INPUTS = 2
_SAMPLES = 256
_FEATURES = 48
_TOKENS = 4096


def features_of(inputs: list[torch.Tensor]) -> list[Optional[torch.Tensor]]:
    """For each of the first inputs a vector: of numbers the means of some features over the samples, then their standard
    deviations; of whole numbers, as those of tokens, the shares of those that have each remainder of a division by 48.
    None where there are too few samples, or features."""
    return [_of_numbers(each) if each.is_floating_point() else _of_tokens(each) for each in inputs[:_INPUTS]]


def add_features(numbers: Numbers, prefix: str, features: list[Optional[torch.Tensor]]) -> None:
    """`features` and `features1`, with this prefix."""
    for index, each in enumerate(features):
        if each is not None:
            numbers.add(f"{prefix}features{index or ''}", each)


def _of_numbers(value: torch.Tensor) -> Optional[torch.Tensor]:
    if value.dim() < 2 or value.shape[0] < 4 or value.numel() == 0:
        return None
    rows = value.detach()[:_SAMPLES].reshape(min(value.shape[0], _SAMPLES), -1)
    if rows.shape[1] < 2:
        return None
    rows = rows[:, :: -(-rows.shape[1] // _FEATURES)].float()
    deviation, mean = torch.std_mean(rows, dim=0, unbiased=False)
    return torch.cat([mean, deviation])


def _of_tokens(value: torch.Tensor) -> Optional[torch.Tensor]:
    tokens = value.detach().reshape(-1)[:_TOKENS]
    if value.dim() < 1 or tokens.numel() < 32 or value.dtype not in (torch.int64, torch.int32):
        return None
    return torch.bincount(tokens.long().remainder(_FEATURES), minlength=_FEATURES).double() / tokens.numel()
