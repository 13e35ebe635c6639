"""Flat parameters: what FullyShardedDataParallel (FSDP1) makes of the parameters of a module, and the part that this rank
has of each of them.

It lays them one behind the other and gives every rank an equal piece. With use_orig_params the module keeps its
parameters, and each is what the rank's piece has of it; without, the piece takes their place as `_flat_param`.
"""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple, Optional

import torch

_FLAT = "_flat_param"
_NONE_OF_THEM = slice(0, 0)


class Shard(NamedTuple):
    """The part of an original parameter that this rank has."""

    shape: tuple[int, ...]  # of the original
    begin: int  # of its elements, the first that this rank has, and the one after the last
    end: int
    number: int  # of the part, from that with the first element on
    parts: int


class Original(NamedTuple):
    """A parameter as the model had it."""

    elements: Optional[slice]  # where it lies in the parameter that the module has now; None: it is that parameter
    shard: Optional[Shard]  # None where it is whole, or is not here at all


Originals = dict[tuple[int, str], Original]  # by the id of the parameter that the module has now, and their names in it

_ORDINARY = Original(None, None)


def originals_in(modules: Iterable[torch.nn.Module]) -> Originals:
    """What lies in the flat parameters of these modules."""
    found: Originals = {}
    for module in modules:
        handle: Any = module.__dict__.get("_handle")
        flat = getattr(handle, "flat_param", None)
        if is_flat(flat):
            found.update(_originals_of(flat, handle.rank, handle.uses_sharded_strategy))
    return found


def is_flat(parameter: Any) -> bool:
    return bool(getattr(parameter, "_is_flat_param", False))


def named_originals(dotted: str, parameter: Any, originals: Originals) -> list[tuple[str, Original]]:
    """The parameters of the model in this one, by their names; one that is not flat is there alone."""
    if not is_flat(parameter):
        return [(dotted, originals.get((id(parameter), ""), _ORDINARY))]
    base, absent = dotted.removesuffix(_FLAT), Original(_NONE_OF_THEM, None)
    return [(base + name, originals.get((id(parameter), name), absent)) for name in parameter._fqns]


def _originals_of(flat: Any, rank: int, is_sharded: bool) -> Originals:
    found: Originals = {}
    own = flat._params or [None] * flat._num_params  # what the module has kept
    for index, info in enumerate(flat._shard_param_infos):
        key = (id(flat), flat._fqns[index]) if own[index] is None else (id(own[index]), "")
        if info.in_shard:
            here = slice(info.offset_in_shard, info.offset_in_shard + info.numel_in_shard)
            shard = _shard_of(flat, index, rank) if is_sharded else None
            found[key] = Original(here if own[index] is None else None, shard)
    return found


def _shard_of(flat: Any, index: int, rank: int) -> Optional[Shard]:
    if flat._param_extensions[index] is not None:  # a part of what a mesh had sharded before
        return None
    info, piece = flat._shard_param_infos[index], flat._sharded_size.numel()
    begin = rank * piece + info.offset_in_shard - info.intra_param_start_idx  # where the whole begins, over all ranks
    first, last = begin // piece, (begin + flat._numels[index] - 1) // piece
    end = info.intra_param_end_idx + 1
    return Shard(tuple(flat._shapes[index]), info.intra_param_start_idx, end, rank - first, last - first + 1)
