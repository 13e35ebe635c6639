"""Masks: whom an attention leaves out, and whether that is what it should.

Of a mask of keys: where it hides padding, what it hides is the same in all samples and what it shows differs; a mask that
is turned around does the reverse.
"""

from __future__ import annotations

from typing import Any, Optional

import torch

from .numbers import Numbers, is_measurable

_TINY = 1e-12
_MAX_MORE = 4
# Where the mask of keys stands among the arguments of what torch has.
_KEYS = {"MultiheadAttention": (3, "key_padding_mask"), "TransformerEncoder": (2, "src_key_padding_mask"),
         "TransformerEncoderLayer": (2, "src_key_padding_mask"), "Transformer": (6, "src_key_padding_mask")}  # fmt: skip


class Masks:
    """Of one step: the first mask that is seen."""

    def __init__(self) -> None:
        self._keys: Optional[torch.Tensor] = None

    def see(self, module: torch.nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        place, name = _KEYS.get(type(module).__name__, (0, ""))
        if self._keys is not None or not name or type(module).__module__.split(".")[0] != "torch":
            return
        mask = kwargs.get(name, args[place] if len(args) > place else None)
        # Of an attention the keys, of an encoder its only input.
        which, called = (1, "key") if name == "key_padding_mask" else (0, "src")
        keys = kwargs.get(called, args[which] if len(args) > which else None)
        if is_measurable(mask) and is_measurable(keys):
            self._keys = spreads(mask, keys, _is_batch_first(module))

    def add(self, numbers: Numbers) -> None:
        if self._keys is not None:
            numbers.add("mask_keys", self._keys)


def _is_batch_first(module: torch.nn.Module) -> bool:
    first = getattr(module, "batch_first", None)
    if first is None and getattr(module, "layers", None):
        first = getattr(getattr(module.layers[0], "self_attn", None), "batch_first", False)
    return bool(first)


def spreads(mask: torch.Tensor, keys: torch.Tensor, is_batch_first: bool) -> Optional[torch.Tensor]:
    """The share of places that are hidden, and how far the samples differ at hidden places and at those shown, as
    variances around the mean of their place. None where the two do not fit."""
    if mask.dim() != 2 or keys.dim() != 3 or not keys.is_floating_point():
        return None
    rows = keys.detach()[..., :64].float() if is_batch_first else keys.detach()[..., :64].float().transpose(0, 1)
    if rows.shape[:2] != mask.shape or rows.shape[0] < 4:
        return None
    hidden = (mask.detach() if mask.dtype == torch.bool else mask.detach() < 0).float()
    return torch.stack([hidden.mean(), _variance(rows, hidden), _variance(rows, 1 - hidden)])


def _variance(rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Of places that at least two samples have."""
    counts = weights.sum(dim=0)  # [places]
    weights = weights * (counts >= 2).float()
    means = (rows * weights[..., None]).sum(dim=0) / counts.clamp(min=1)[:, None]
    far = (rows - means).square().mean(dim=-1) * weights
    total = weights.sum()
    return torch.where(total > 0, far.sum() / total.clamp(min=1), far.sum() * float("nan"))


def filled(mask: torch.Tensor, tokens: Optional[torch.Tensor]) -> Optional[list[float]]:
    """Of a mask of masked_fill() on scores of shape [..., queries, keys]. Of pairs: the shares that are filled above the
    diagonal, on it and below it. Of keys, where `tokens` of shape [samples, keys] went into the model: the shares that
    are filled among the tokens that rows end with, and among the others. [kind, share, share, share], kind 0 or 1."""
    if mask.dtype != torch.bool or mask.dim() < 2 or mask.numel() > 1 << 20:
        return None
    rows, places = mask.shape[-2:]
    if rows == places and rows >= 4:
        pairs = mask.reshape(-1, rows, rows)[:64].float().mean(dim=0)
        upper = torch.ones(rows, rows, dtype=torch.bool, device=mask.device).triu(1)
        return [0.0, pairs[upper].mean().item(), pairs.diagonal().mean().item(), pairs[upper.T].mean().item()]
    if tokens is None or tokens.dim() != 2 or mask.numel() != tokens.shape[0] * places:
        return None
    more = places - tokens.shape[1]  # tokens that the model puts before those of its input, as that of a class
    if not 0 <= more <= _MAX_MORE:
        return None
    hidden = mask.reshape(tokens.shape[0], places)[:, more:].float()
    last = tokens[:, -1].mode().values
    padding = (tokens == last).flip(1).long().cumprod(dim=1).flip(1).bool()
    if not bool(padding.any()) or bool(padding.all()):
        return None
    return [1.0, hidden[padding].mean().item(), hidden[~padding].mean().item(), padding.float().mean().item()]
