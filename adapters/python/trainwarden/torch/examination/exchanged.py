"""Exchanged axes: what a module gets that is another one's output with axes mixed up, as by view() in place of transpose().

A view tells what it is a view of. Where its elements lie in the same order and its axes do not, samples or features were
mixed: permute() would have changed the order. Shapes alone are read.
"""

from __future__ import annotations

import weakref
from typing import Any, Optional, Sequence

import torch

from .batches import tensors_in

_MAX_KNOWN = 256
_MAX_FOUND = 4


class Exchanges:
    """Of one step."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        # What lies under the outputs of modules: of each the shape of the output and who gave it.
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], list[int], str]] = {}

    def gives(self, name: str, output: Any) -> None:
        for each in list(tensors_in(output))[:2]:
            root = _root(each)
            if each.dim() >= 3 and each.is_contiguous() and len(self._known) < _MAX_KNOWN:
                self._known[id(root)] = weakref.ref(root), list(each.shape), name

    def takes(self, name: str, args: Any) -> None:
        taken = next(tensors_in(args), None)
        if taken is None or taken._base is None or taken.dim() < 2 or not taken.is_contiguous():
            return
        root = taken._base
        reference, shape, giver = self._known.get(id(root), (None, list(root.shape), ""))
        if reference is not None and reference() is not root:
            shape, giver = list(root.shape), ""
        what = exchanged(shape, list(taken.shape)) if root.numel() == taken.numel() and root.is_contiguous() else None
        if what is not None and len(self.found) < _MAX_FOUND and all(each["to"] != name for each in self.found):
            self.found.append({"from": giver, "to": name, "what": what, "given": shape, "taken": list(taken.shape)})


def _root(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor._base is None else tensor._base


def exchanged(given: Sequence[int], taken: Sequence[int]) -> Optional[str]:
    """What a view of shape `taken` mixes up in a tensor of shape `given`, whose first axis is that of the samples:
    "samples", "axes", or None."""
    if len(given) < 3 or given[0] < 2:
        return None
    # Final states of a recurrent layer, [directions, samples, features], of which a row takes several samples.
    is_of_states = len(given) == 3 and list(taken) == [given[1], given[0] * given[2]]
    if is_of_states and given[1] > 1 and given[0] != given[1]:
        return "samples"
    swapped = [axis for axis in range(len(given)) if len(taken) == len(given) and given[axis] != taken[axis]]
    if len(swapped) == 2 and min(given[swapped[0]], given[swapped[1]]) > 1:
        first, second = swapped
        if (given[first], given[second]) == (taken[second], taken[first]):
            return "samples" if first == 0 else "axes"
    samples = given[0]
    if len(given) == 4 and len(taken) == 3 and taken[1] == samples and taken[0] % samples != 0:
        return "samples" if taken[0] in given[1:] else None
    if taken[0] == samples and _splits_last(list(given[1:]), list(taken[1:])):
        return "axes"
    return "axes" if taken[0] == samples and _splits_last(list(taken[1:]), list(given[1:])) else None


def _splits_last(flat: list[int], image: list[int]) -> bool:
    """[places, channels] against [channels, height, width]."""
    if len(flat) != 2 or len(image) != 3 or image[0] < 2:
        return False
    places, channels = flat
    return channels == image[0] and places == image[1] * image[2] and places != channels and places > 1
