"""Recorder: hands what a call left to the hook, under the tensors' numbers."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np

from .. import _core, faults
from ..hook import Hook
from . import names, tags
from .plans import ALL_KINDS, Plan, Slot
from .reducing import can_reduce, statistics_of

_COLLECTIONS = {tags.LOSS: "losses", tags.GRADIENT: "gradients", tags.OWN_GRADIENT: "gradients", tags.OUTPUT: "outputs",
                tags.STATE: "optimizer_state", tags.RATE: "scalars", tags.METRIC: "metrics"}  # fmt: skip
_ALWAYS = (tags.LOSS, tags.RATE, tags.METRIC)  # one number a step


class Recorder:
    """Of one run."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._ids: dict[tuple[str, str], int] = {}
        self._by_kind: dict[str, list[int]] = {}

    def wanted_kinds(self, plan: Plan, is_loss_read: bool = False) -> tuple[str, ...]:
        """Those of which a tensor is wanted at this step, and the loss. Nothing at all, or nothing else that is to be
        read at once: none."""
        if not self._hook.wants_anything():
            return ()
        for slot in plan.slots:
            self._id(slot.kind, slot.name, len(slot.shape))
        wanted = tuple(kind for kind in ALL_KINDS if kind in _ALWAYS or self._wants(kind))
        return wanted if len(wanted) > len(_ALWAYS) or is_loss_read else ()

    def record(self, slots: Iterable[Slot], values: Mapping[int, Any], at: tuple[int, ...] = ()) -> None:
        """The values by the slots' numbers; `at`: which pass of loops."""
        for slot in slots:
            value = values.get(slot.index)
            if value is not None:
                self.keep(slot.kind, slot.name, value if not at else value[at])

    def keep(self, kind: str, name: str, value: Any) -> None:
        """A tensor of the open step."""
        identity = self._id(kind, name, getattr(value, "ndim", 0))
        if kind in _ALWAYS:
            self._hook.observe(identity, float(value) if getattr(value, "ndim", 0) == 0 else readable(value))
        elif self._hook.wants(identity):
            self._save(identity, value)

    def _save(self, identity: int, value: Any) -> None:
        if not is_readable_type(value) and can_reduce(value):
            faults.say_once(f"arrays of {value.dtype} are kept as their statistics, which JAX computes in float32")
            self._hook.save_statistics(identity, value.shape, **statistics_of(value))
            return
        if is_cut(value):
            for shard in value.addressable_shards:
                offsets = [place.start or 0 for place in shard.index]
                part = np.asarray(shard.data) if shard.replica_id == 0 else None
                self._hook.save_shard(identity, part, value.shape, offsets, shard.replica_id)
            return
        array = readable(value)
        if array is not None:
            self._hook.save_tensor(identity, array)

    def _id(self, kind: str, name: str, dimensions: int) -> int:
        key = (kind, name)
        identity = self._ids.get(key)
        if identity is None:
            collections = [_COLLECTIONS.get(kind) or names.collection_of(name, dimensions)]
            if kind == tags.METRIC and "loss" in name.lower():
                collections.append("losses")
            identity = self._ids[key] = self._hook.declare(name, collections)
            self._by_kind.setdefault(kind, []).append(identity)
        return identity

    def _wants(self, kind: str) -> bool:
        return self._hook.wants_any(self._by_kind.get(kind, []))


def is_readable_type(value: Any) -> bool:
    """Are its elements of a type that a run can have?"""
    return not isinstance(value, jax.Array) or _has_dtype(str(value.dtype))


@functools.cache
def _has_dtype(name: str) -> bool:
    if name == "float8_e4m3":  # has infinities; the one that is called so in a run has none
        return False
    try:
        _core.dtype_code(name)
    except ValueError:
        return False
    return True


def is_cut(value: Any) -> bool:
    """Into parts, all of which this process can read."""
    if not isinstance(value, jax.Array) or value.is_deleted() or len(value.devices()) == 1:
        return False
    return value.is_fully_addressable and not value.is_fully_replicated


def readable(value: Any) -> Any:
    """What the hook can read in place. Of an array on several devices that hold the same: that of the first; of one
    that is cut into parts: a copy of the whole. None: its parts are of other processes, or it was given away."""
    if not isinstance(value, jax.Array):
        return value
    if value.is_deleted():
        return None
    if len(value.devices()) > 1:
        if value.is_fully_replicated:
            return value.addressable_data(0)
        if not value.is_fully_addressable:
            faults.say_once("arrays that are spread over several processes are not captured")
            return None
        return np.asarray(value)
    return value
