"""Tests of how tensors of torch are handed over."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch

import trainwarden
import trainwarden.torch as twt
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


class KeepsWhatItIsGiven:
    """A hook that takes what lies in memory, with its shape and device."""

    def __init__(self) -> None:
        self.given: list[tuple[bytes, tuple[int, ...], int]] = []

    def begin_group(self) -> None:
        pass

    def end_group(self) -> None:
        pass

    def save_memory(self, tensor_id: int, address: int, code: int, shape: tuple[int, ...], strides: object, device: int = 1, *_: object) -> None:
        elements = 1
        for size in shape:
            elements *= size
        self.given.append((ctypes.string_at(address, 4 * elements) if elements else b"", tuple(shape), device))


def test_a_sparse_tensor_is_there_by_its_values() -> None:
    hook = KeepsWhatItIsGiven()
    bridge = Bridge(hook)
    embedding = torch.nn.Embedding(10, 2, sparse=True)
    embedding(torch.tensor([3, 3, 7])).mul(torch.tensor([[1.0, 2.0]])).sum().backward()
    gradient = embedding.weight.grad
    assert gradient is not None and gradient.layout is torch.sparse_coo
    bridge.save(1, gradient)
    bridge.save(2, torch.eye(3).to_sparse_csr())
    bridge.save(3, torch.sparse_coo_tensor(torch.zeros((1, 0), dtype=torch.int64), torch.zeros((0, 2)), (10, 2)))
    values = torch.tensor([[1.0, 2.0]] * 3).numpy().tobytes()
    assert hook.given == [(values, (3, 2), 1), (torch.ones(3).numpy().tobytes(), (3,), 1), (b"", (0, 2), 1)]


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.SparseAdam])
def test_the_gradient_of_a_sparse_embedding_is_in_the_run(
    kind: type[torch.optim.Optimizer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"SAVE_ALL": "1", "SAVE_INTERVAL": "1", "WHEN_FULL": "block", "PROFILE_STEPS": "off"}.items():
        monkeypatch.setenv(f"TRAINWARDEN_{name}", value)
    net = torch.nn.Sequential(torch.nn.Embedding(10, 2, sparse=True), torch.nn.Linear(2, 1).requires_grad_(False))
    optimizer = kind([net[0].weight], lr=0.1)
    twt.attach(str(tmp_path / "run"))
    for _ in range(5):
        optimizer.zero_grad()
        net(torch.tensor([3, 3, 7])).square().sum().backward()
        optimizer.step()
    twt.detach()
    assert "unsupported" not in capfd.readouterr().err
    trial = trainwarden.open(tmp_path / "run")
    (gradient,) = trial.tensor_names(collection="gradients")
    assert trial.tensor(gradient).steps("train") == [0, 1, 2, 3, 4]
    assert trial.tensor(gradient).value(2).shape == (3, 2)
