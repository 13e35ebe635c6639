"""Bad samples: which samples of a batch hold what no training can use, and what lies behind them.

A batch is looked at where the data loader gives it, in the memory of the processor, whatever device it is sent to later: at
steps whose signals are wanted, and in full examinations. A sample of its elements is looked at, from each row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import numpy as np
import torch

from .examination.batches import tensors_in
from .examination.numbers import is_measurable
from ..faults import guarded
from .sample_sources import source_of

# A tensor of so many elements is looked at whole, a larger one at so many of its elements: they lie far apart in memory.
_MAX_WHOLE = 1 << 16
_MAX_ELEMENTS = 1 << 14
_MAX_TENSORS = 4
# So many samples of a batch are named.
_MAX_NAMED = 4
_FEWEST = 16  # samples, where one that is far from all others is told
_FAR = 0.5  # share of the variance


class Taken(NamedTuple):
    """A batch as a data loader gives it, and what that says of itself."""

    value: Any
    data_set: Any
    workers: int
    place: Optional[str]  # where in the program the loader was made


class _Bad(NamedTuple):
    kind: str  # "not_finite", "outlier", "same"
    tensor: int  # number of the tensor in the batch
    rows: list[int]
    total: int  # of bad samples
    size: int  # of the batch
    value: Optional[float]


@guarded("find bad samples")
def look(indices: Any, epoch: int, number: int, taken: Taken, in_full: bool) -> Optional[dict[str, Any]]:
    """What is wrong with a batch (docs/format/signals.md); None when nothing is. `in_full`: also of finite numbers."""
    with torch.no_grad():
        bad = _find(taken.value, in_full)
    if bad is None:
        return None
    known = indices if isinstance(indices, (list, tuple)) and len(indices) == bad.size else None
    found: dict[str, Any] = {
        "kind": bad.kind, "tensor": bad.tensor, "count": bad.total, "epoch": epoch, "number": number,
        "samples": [_sample(row, known) for row in bad.rows],
    }  # fmt: skip
    _name_sources(found, taken.data_set)
    if bad.value is not None:
        found["value"] = bad.value
    if taken.workers > 0 and known is not None:  # batches go to the workers of a loader in turn
        found["worker"] = number % taken.workers
    if taken.place is not None:
        found["place"] = taken.place
    return found


def _sample(row: int, indices: Any) -> dict[str, Any]:
    is_numbered = indices is not None and isinstance(indices[row], (int, np.integer))
    return {"row": row, "index": int(indices[row])} if is_numbered else {"row": row}


def _name_sources(found: dict[str, Any], data_set: Any) -> None:
    for sample in found["samples"]:
        if "index" not in sample:
            continue
        source = source_of(data_set, sample["index"])
        found["data_set"] = source.data_set
        if source.text is not None:
            sample["source"] = source.text


def _find(value: Any, in_full: bool) -> Optional[_Bad]:
    all_rows = []
    for tensor, each in enumerate(tensors_in(value)):
        if tensor == _MAX_TENSORS:
            break
        rows = _rows(each)
        if rows is not None:
            all_rows.append((tensor, rows))
            if not math.isfinite(rows.sum().item()):
                bad = _not_finite(tensor, rows)
                if bad is not None:
                    return bad
    if in_full:
        for tensor, rows in all_rows:
            rows = _thinned(rows)
            bad = _same(tensor, rows) or _outlier(tensor, rows)
            if bad is not None:
                return bad
    return None


def _rows(value: torch.Tensor) -> Optional[torch.Tensor]:
    """As float32 or wider, one row a sample; of large ones some of the elements of each."""
    if not is_measurable(value) or not value.is_floating_point() or value.device.type != "cpu":
        return None
    if value.dim() == 0 or value.numel() == 0 or not (value.is_contiguous() or value.numel() <= _MAX_WHOLE):
        return None
    rows = value.detach().reshape(value.shape[0], -1)
    if rows.numel() > _MAX_WHOLE:
        rows = _thinned(rows)
    return rows if rows.dtype in (torch.float32, torch.float64) else rows.float()


def _thinned(rows: torch.Tensor) -> torch.Tensor:
    """Some elements of each row."""
    limit = max(1, _MAX_ELEMENTS // rows.shape[0])
    return rows[:, :: -(-rows.shape[1] // limit)] if rows.shape[1] > limit else rows


def _not_finite(tensor: int, rows: torch.Tensor) -> Optional[_Bad]:
    """Minus infinity is a mask, and there on purpose."""
    bad = (torch.isnan(rows) | (rows == math.inf)).any(dim=1).nonzero()[:, 0].tolist()
    return _Bad("not_finite", tensor, bad[:_MAX_NAMED], len(bad), rows.shape[0], None) if bad else None


def _same(tensor: int, rows: torch.Tensor) -> Optional[_Bad]:
    if tensor > 0 or rows.shape[0] < 2 or rows.shape[1] < 2 or not bool((rows == rows[:1]).all()):
        return None
    count = rows.shape[0]
    return _Bad("same", tensor, list(range(min(count, _MAX_NAMED))), count, count, None)


def _outlier(tensor: int, rows: torch.Tensor) -> Optional[_Bad]:
    """One element has more of the variance than all others of the batch."""
    if rows.shape[0] < _FEWEST or not bool(torch.isfinite(rows).all()):
        return None
    squares = (rows - rows.mean()).square()
    largest = squares.reshape(-1).argmax().item()
    if not squares.reshape(-1)[largest].item() > _FAR * squares.sum().item():
        return None
    value = rows.reshape(-1)[largest].item()
    return _Bad("outlier", tensor, [int(largest) // rows.shape[1]], 1, rows.shape[0], value)
