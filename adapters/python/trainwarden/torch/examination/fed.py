"""Fed: whether a model that predicts tokens gets the very tokens that it must predict."""

from __future__ import annotations

import torch

from .batches import Compared
from .numbers import Numbers, is_measurable

# A decoder that is called for one token after the other compares as often.
_MIN_CALLS = 3


class Fed:
    """Of one step."""

    def __init__(self) -> None:
        self._calls: list[torch.Tensor] = []  # of one token for each sample: the share that is fed
        self._whole: list[torch.Tensor] = []

    def see(self, compared: Compared, tokens: list[torch.Tensor]) -> None:
        """`tokens`: what embeddings got before."""
        target = compared.target
        if target is None or target.is_floating_point() or not compared.has_classes():
            return
        known = [each for each in tokens if is_measurable(each) and not each.is_floating_point()]
        if target.dim() == 1 and known and known[-1].shape == target.shape:
            self._calls.append((known[-1] == target).float().mean())
        elif not self._whole:
            self._see_whole(target, compared.counted(target), [each for each in known if each.dim() == 2 and min(each.shape) > 1])

    def _see_whole(self, target: torch.Tensor, counts: torch.Tensor, tokens: list[torch.Tensor]) -> None:
        same, shifted = [], [target.new_zeros((), dtype=torch.float32)]
        for each in [each for each in tokens if each.numel() == target.numel()]:
            wanted, valid = target.detach().reshape(each.shape), counts.reshape(each.shape)
            same.append(((each == wanted) & valid).float().sum() / valid.float().sum().clamp(min=1))
            shifted.append((each[:, 1:] == wanted[:, :-1]).float().mean())
            shifted.append((each[1:] == wanted[:-1]).float().mean())
        if same:
            self._whole = [torch.stack(same).max(), torch.stack(shifted).max()]

    def add(self, numbers: Numbers) -> None:
        """`fed`: the share of targets that an embedding got at the same place, and the share that another one got one
        place on, as a decoder does that is taught by the tokens before."""
        if self._whole:
            numbers.add("fed", torch.stack(self._whole))
        elif len(self._calls) >= _MIN_CALLS:
            numbers.add("fed", torch.stack([torch.stack(self._calls).mean(), self._calls[0].new_zeros(())]))
