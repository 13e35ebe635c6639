"""Shifts: how many places on in its input a token stands that is a target."""

from __future__ import annotations

from typing import Optional

import torch

from .padding import filled_places

_SHIFTS = 4
_MAX_SELECTED = 1 << 16
_TARGETS_BY_PAIR = 4  # of fewer pairs a share says little


def matches_of_shifts(tokens: torch.Tensor, wanted: torch.Tensor) -> Optional[torch.Tensor]:
    """Of `tokens` of shape [samples, length]: the shares of targets that are the token 0, 1, 2 and 3 places on. Targets
    are of the same length, or up to three fewer, or only as many as there are tokens that are no padding."""
    samples, length = tokens.shape
    if wanted.is_floating_point() or samples == 0 or tokens.device != wanted.device:
        return None
    width, rest = divmod(wanted.numel(), samples)
    if rest > 0 or not length - 3 <= width <= length or width < 5:
        return _matches_of_selected(tokens, wanted)
    wanted = wanted.reshape(samples, width)
    common = width - 3
    return torch.stack([(wanted[:, :common] == tokens[:, lag : lag + common]).float().mean() for lag in range(_SHIFTS)])


def _matches_of_selected(tokens: torch.Tensor, wanted: torch.Tensor) -> Optional[torch.Tensor]:
    """Of targets of which the program has taken those of real tokens, one after the other. NaN where these are not as
    many: a GPU is not waited for."""
    count = wanted.numel()
    if wanted.dim() != 1 or not tokens.shape[0] < count < tokens.numel() <= _MAX_SELECTED:
        return None
    real = ~filled_places(tokens)
    order = real.reshape(-1).long().cumsum(dim=0) - 1
    grid = wanted[order.clamp(0, count - 1)].reshape(tokens.shape)
    shares = []
    for lag in range(_SHIFTS):
        here, there = slice(0, tokens.shape[1] - lag), slice(lag, None)
        pairs = real[:, here] & real[:, there]
        same = (grid[:, here] == tokens[:, there]) & pairs
        shares.append(same.sum() / pairs.sum().clamp(min=max(1, count // _TARGETS_BY_PAIR)))
    return torch.where(order[-1] + 1 == count, torch.stack(shares), shares[0].new_tensor(float("nan")))
