"""Masks: whom an attention leaves out, and whether that is what it should.

Of a mask of keys: where it hides padding, what it hides is the same in all samples and what it shows differs; a mask that
is turned around does the reverse.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import torch

from .numbers import Numbers, is_measurable
from .padding import padding_of

_TINY = 1e-12
_MAX_MORE = 4
_MIN_PLACES = 4
_MAX_ELEMENTS = 1 << 20
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


def filled(mask: torch.Tensor, given: Optional[torch.Tensor]) -> Optional[list[float]]:
    """Of a mask of masked_fill() on scores of shape [..., queries, keys]: [0, *hidden_pairs()], or else, where `given` went
    into the model, [1, *hidden_keys()]."""
    if mask.dtype != torch.bool or mask.dim() < 2 or mask.numel() > _MAX_ELEMENTS:
        return None
    rows, places = mask.shape[-2:]
    if rows == places and rows >= _MIN_PLACES:
        return [0.0, *hidden_pairs(mask)]
    padding = None if given is None else padding_of(given)
    shares = None if padding is None else hidden_keys(mask.reshape(-1, 1, places), padding)
    return None if shares is None else [1.0, *shares]


def hidden_by(weights: torch.Tensor, given: Optional[torch.Tensor]) -> dict[str, list[float]]:
    """Of the weights of an attention, of shape [..., queries, keys], whoever hid what in whatever way: what it hides has a
    weight of exactly zero."""
    rows, places = weights.shape[-2:]
    if rows * places > _MAX_ELEMENTS:
        return {}
    heads = weights.detach().reshape(-1, rows, places)
    padding = None if given is None else padding_of(given)
    if padding is not None and heads.shape[0] % padding.shape[0] != 0:
        padding = None
    known: dict[str, list[float]] = {}
    if rows == places and rows >= _MIN_PLACES:
        known.update(_pairs_hidden_by(heads, padding))
    if padding is not None:
        last = heads[:: heads.shape[0] // padding.shape[0], -1:]  # a query that a causal mask hides nothing from
        shares = hidden_keys(last == 0, padding)
        if shares is not None:
            known["hidden_keys"] = shares
    return known


def _pairs_hidden_by(heads: torch.Tensor, padding: Optional[torch.Tensor]) -> dict[str, list[float]]:
    """Of pairs without padding: as a key it is hidden for another reason, and as a query from which all is hidden it
    has weights that are all alike."""
    count, places, _ = heads.shape
    step, most = max(1, count // 16), max(1, _MAX_ELEMENTS // (places * places))
    chosen = slice(0, step * most, step)
    real = None
    if padding is not None and padding.shape[1] == places:
        real = ~padding.repeat_interleave(count // padding.shape[0], dim=0)[chosen]
    pairs = hidden_pairs(heads[chosen] == 0, real)
    return {} if any(math.isnan(share) for share in pairs) else {"pairs": pairs}


def hidden_pairs(mask: torch.Tensor, real: Optional[torch.Tensor] = None) -> list[float]:
    """The shares that are hidden above the diagonal, on it, below it, and of each place's next one, of a mask of shape
    [..., places, places]; NaN where there are none. `real`: of shape [samples, places], the places that count."""
    places = mask.shape[-1]
    hidden = mask.reshape(-1, places, places)[:64].float()
    counts = hidden.new_ones(hidden.shape[:2]) if real is None else real[:64].float()
    if real is not None:
        hidden = hidden * counts[:, :, None] * counts[:, None, :]
    shares = _sums(hidden.sum(dim=0)) / _sums(counts.T @ counts)
    return [float(share) for share in shares.tolist()]


def _sums(pairs: torch.Tensor) -> torch.Tensor:
    """Above the diagonal, on it, below it, and one place above it. They are counts of fewer than float32 has exactly."""
    parts = (pairs.triu(1), pairs.diagonal(), pairs.tril(-1), pairs.diagonal(1))
    return torch.stack([part.sum() for part in parts])


def hidden_keys(mask: torch.Tensor, padding: torch.Tensor) -> Optional[list[float]]:
    """The shares that are hidden among the padding of samples, and among their other places; and how much is padding. Of
    samples that have some. `mask`: of shape [samples, 1, keys], `padding`: of shape [samples, places]."""
    more = mask.shape[-1] - padding.shape[1]  # places that the model puts before those of its input, as that of a class
    if not 0 <= more <= _MAX_MORE or mask.shape[0] != padding.shape[0]:
        return None
    some = padding.any(dim=1)
    hidden, padding = mask[some, 0, more:].float(), padding[some]
    if hidden.numel() == 0 or bool(padding.all()):
        return None
    return [hidden[padding].mean().item(), hidden[~padding].mean().item(), padding.float().mean().item()]
