"""Pieces: short stretches of series, by which windows that overlap are known, wherever in the series each begins."""

from __future__ import annotations

from typing import Optional

import torch

# Places of a piece; so many pieces are kept of a window: those of the smallest prints, which two windows that share most
# of their places share, too.
_LENGTH, KEPT = 8, 4
_MAX_ROWS = 32
_MAX_ELEMENTS = 1 << 17
_MIN_PLACES = 16
# Of a window's places so many differ from each other, else pieces are alike by chance.
_MIN_DISTINCT = 0.75
_GOLDEN = -7046029254386353131  # 2^64 divided by the golden ratio, as a signed number: spreads what it is multiplied with
_NONE = torch.iinfo(torch.int64).max


def pieces_of(value: torch.Tensor) -> Optional[torch.Tensor]:
    """Of a batch of series, of shape [samples, length], [samples, length, channels] or [samples, channels, length] and of
    numbers that are not whole: `KEPT` numbers for each of up to 32 samples that are spread over the batch. NaN for samples
    that hold too little to be told apart. None for everything else. The longer axis is taken for the time."""
    if value.dim() not in (2, 3) or not value.is_floating_point() or value.numel() == 0:
        return None
    series = value.detach()[:: -(-value.shape[0] // _MAX_ROWS)]
    if series.dim() == 2:
        series = series.unsqueeze(2)
    elif series.shape[2] > series.shape[1]:
        series = series.transpose(1, 2)
    if series.shape[1] < _MIN_PLACES or series.numel() > _MAX_ELEMENTS:
        return None
    places = _prints_of_places(series)
    starts = places.shape[1] - _LENGTH + 1
    pieces = sum(places[:, at : at + starts] * _odd(at) for at in range(_LENGTH))
    assert isinstance(pieces, torch.Tensor)
    distinct = _differ(places.sort(dim=1).values).float().mean(dim=1, keepdim=True)
    pieces = torch.where((distinct >= _MIN_DISTINCT) & _is_moving(places), _spread(pieces), _NONE)
    kept = pieces.sort(dim=1).values[:, :KEPT]
    # A float64 holds 52 bits exactly.
    return torch.where(kept == _NONE, torch.nan, (kept >> 12).double()).reshape(-1)


def _prints_of_places(series: torch.Tensor) -> torch.Tensor:
    """A number for each place of each series. Of integers, as their sums do not depend on their order."""
    bits = series.to(torch.float32).contiguous().view(torch.int32).to(torch.int64)
    weights = torch.arange(1, 2 * bits.shape[2], 2, device=bits.device) * _GOLDEN
    return _spread((bits * weights).sum(dim=2))


def _odd(at: int) -> int:
    return 2 * at * 0x5851F42D + 1


def _spread(prints: torch.Tensor) -> torch.Tensor:
    """So that the upper bits depend on all others."""
    return (prints ^ (prints >> 29)) * _GOLDEN


def _differ(prints: torch.Tensor) -> torch.Tensor:
    """From the one before."""
    return prints[:, 1:] != prints[:, :-1]


def _is_moving(places: torch.Tensor) -> torch.Tensor:
    """Of each piece: does nearly each place of it differ from the one before?"""
    moves = _differ(places).long().cumsum(dim=1)
    moves = torch.nn.functional.pad(moves, (1, 0))
    return moves[:, _LENGTH - 1 :] - moves[:, : moves.shape[1] - _LENGTH + 1] >= _LENGTH - 2
