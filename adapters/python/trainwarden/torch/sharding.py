"""Sharding: which ranks share one model, and which part of a parameter each has, as the meshes of its distributed tensors
(DTensor) and flat parameters (FSDP1) say.

A mesh has a dimension for each kind of parallelism. Along those of data parallelism (fully_shard) each rank has batches
of its own; along the others, over which parameters are sharded, ranks compute together on the same batch.
"""

from __future__ import annotations

import json
import math
from typing import Any, Iterable, Optional

import torch

from .flat import Shard
from .module_tree import modules_of, named_modules, own_parameters
from .roots import NamedParameter


def batch_group(root: torch.nn.Module) -> Optional[int]:
    """The first rank of those that get the same batches as this one, as they share the model; None when none does."""
    ranks: set[int] = set()
    for module in modules_of(root):
        for parameter in own_parameters(module):
            mesh = getattr(parameter, "device_mesh", None)
            if mesh is not None:
                ranks.update(_ranks_along(mesh, _shared_dimensions(parameter, _data_dimensions(root, module))))
    return min(ranks) if len(ranks) > 1 else None


def describe_shards(parameters: Iterable[NamedParameter]) -> Optional[str]:
    """The parts that this rank has of parameters, as docs/format/signals.md has it; None when none is sharded."""
    described = [_describe_flat(each.name, each.shard) or _describe_part(each.name, each.parameter) for each in parameters]
    tensors = [entry for entry in described if entry]
    return json.dumps({"tensors": tensors}) if tensors else None


def _describe_flat(name: str, shard: Optional[Shard]) -> Optional[dict[str, Any]]:
    if shard is None:
        return None
    place = f"Flat({shard.begin}:{shard.end})"
    return {"name": name, "shape": shard.shape, "part": [shard.number], "parts": shard.parts, "placements": [place]}


def _describe_part(name: str, parameter: Any) -> Optional[dict[str, Any]]:
    mesh = getattr(parameter, "device_mesh", None)
    coordinate = mesh.get_coordinate() if mesh is not None else None
    if mesh is None or coordinate is None or any(placement.is_partial() for placement in parameter.placements):
        return None
    sharded = [placement.is_shard() for placement in parameter.placements]
    return {
        "name": name,
        "shape": list(parameter.shape),
        "part": [place if is_sharded else 0 for place, is_sharded in zip(coordinate, sharded)],
        "parts": math.prod(size for size, is_sharded in zip(mesh.shape, sharded) if is_sharded),
        "placements": [str(placement) for placement in parameter.placements],
    }


def _shared_dimensions(parameter: Any, data_dimensions: frozenset[str]) -> list[int]:
    """Along these dimensions of its mesh the parameter is sharded, and not to save the memory of data parallelism."""
    names = parameter.device_mesh.mesh_dim_names or ("",) * parameter.device_mesh.ndim
    sharded = [index for index, placement in enumerate(parameter.placements) if placement.is_shard()]
    return [index for index in sharded if names[index] not in data_dimensions]


def _data_dimensions(root: torch.nn.Module, module: torch.nn.Module) -> frozenset[str]:
    """The names of the dimensions that fully_shard uses for this module: those of the nearest module that it has."""
    for owner in _owners(root, module):
        state = getattr(owner, "_get_fsdp_state", None)
        group = getattr(state(), "_fsdp_param_group", None) if state is not None else None
        if group is not None:
            mesh = group.mesh_info.mesh
            return frozenset(mesh.mesh_dim_names or ("",))
    return frozenset()


def _owners(root: torch.nn.Module, module: torch.nn.Module) -> Iterable[torch.nn.Module]:
    """The module and those that it lies in, the innermost first."""
    path = next((name for name, each in named_modules(root) if each is module), "")
    parts = path.split(".") if path else []
    return [root.get_submodule(".".join(parts[:count])) for count in range(len(parts), -1, -1)]


def _ranks_along(mesh: Any, dimensions: list[int]) -> list[int]:
    coordinate = mesh.get_coordinate()
    if not dimensions or coordinate is None:
        return []
    index = tuple(slice(None) if each in dimensions else place for each, place in enumerate(coordinate))
    return [int(rank) for rank in mesh.mesh[index].flatten().tolist()]
