"""Padding: which places of samples are but what rows are filled up with, at their end or at their beginning."""

from __future__ import annotations

from typing import Optional

import torch

_MAX_ELEMENTS = 1 << 20


def up_to_the_end(places: torch.Tensor) -> torch.Tensor:
    """Of places of rows those from which on, up to the end of the row, all are among these. Shape [rows, places]."""
    return places.flip(1).long().cumprod(dim=1).flip(1).bool()


def padding_of(given: torch.Tensor) -> Optional[torch.Tensor]:
    """Of shape [samples, places]: of tokens those that most rows end or begin with; of numbers of shape [samples,
    places, features] where a row is all zeros from its beginning or to its end. None where there is none."""
    if given.numel() > _MAX_ELEMENTS or given.dim() < 2 or given.shape[0] == 0 or given.shape[1] < 2:
        return None
    rows = given.detach()
    if rows.dim() == 3 and rows.is_floating_point():
        zeros = (rows == 0).all(dim=2)
        padding = _one_side(zeros, zeros)
    elif rows.dim() == 2 and not rows.is_floating_point():
        padding = filled_places(rows)
    else:
        return None
    return padding if bool(padding.any()) and not bool(padding.all()) else None


def filled_places(tokens: torch.Tensor) -> torch.Tensor:
    """The same of tokens of shape [samples, places], without waiting for a GPU."""
    return _one_side(tokens == tokens[:, 0].mode().values, tokens == tokens[:, -1].mode().values)


def _one_side(first: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    """Those of `first` that a row begins with, or of `last` that it ends with. Rows may all begin with one token of a
    start, or end with one of an end, which fills nothing up."""
    at_begin, at_end = first.long().cumprod(dim=1).bool(), up_to_the_end(last)
    begins, ends = at_begin.sum(dim=1), at_end.sum(dim=1)
    varies = (begins.max() > 1) & (begins.max() > begins.min())
    is_usual = 2 * (begins > 0).sum() >= begins.numel()
    return torch.where(varies & is_usual & ((begins.sum() > ends.sum()) | (ends.max() <= 1)), at_begin, at_end)
