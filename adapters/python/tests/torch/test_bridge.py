"""Tests of how tensors of torch are handed over."""

from __future__ import annotations

import ctypes

import torch

from trainwarden.torch.bridge import Bridge


class ReadsAtTheEndOfTheGroup:
    """A hook that looks at what was saved in a group only when the group ends, as one does for tensors on a GPU."""

    def __init__(self) -> None:
        self.saved: list[tuple[int, int]] = []  # address, elements
        self.seen: list[bytes] = []

    def begin_group(self) -> None:
        self.saved.clear()

    def save_memory(self, tensor_id: int, address: int, code: int, shape: tuple[int, ...], *_: object) -> None:
        self.saved.append((address, shape[0]))

    def end_group(self) -> None:
        self.seen = [ctypes.string_at(address, 8 * elements) for address, elements in self.saved]


def test_a_copy_that_nobody_else_holds_lives_until_its_group_has_been_read() -> None:
    hook = ReadsAtTheEndOfTheGroup()
    bridge = Bridge(hook)
    numbers = torch.view_as_complex(torch.arange(20000.0).view(-1, 2))
    with bridge.group:
        bridge.save(1, numbers.conj())  # conjugated lazily: its memory is not what it seems
        others = [torch.full((10000,), 7 + 7j) for _ in range(4)]
    assert hook.seen == [numbers.conj().resolve_conj().numpy().tobytes()]
    assert len(others) == 4
