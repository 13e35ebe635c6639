"""The quick ways in for adapters: tensors told by address."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trainwarden as tw
from trainwarden import _core

FLOAT32 = _core.dtype_code("float32")


def test_save_memory(run_dir: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        packed, transposed, scalar = (hook.declare(name) for name in ("packed", "transposed", "scalar"))
        hook.save_memory(packed, array.ctypes.data, FLOAT32, (2, 3))
        hook.save_memory(transposed, array.ctypes.data, FLOAT32, (3, 2), (1, 3))
        hook.save_memory(scalar, array.ctypes.data + 4, FLOAT32, (), None, 1, 0, 0)
        hook.step()
        assert hook.report().losses == []
    trial = tw.open(run_dir)
    np.testing.assert_array_equal(trial.value("packed", 0), array)
    np.testing.assert_array_equal(trial.value("transposed", 0), array.T)
    assert trial.value("scalar", 0) == 1


def test_save_memory_that_is_not_there_is_a_loss(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        x = hook.declare("x")
        hook.save_memory(x, 0, FLOAT32, (2,))
        hook.save_memory(x, 64, FLOAT32, (2,), None, 8)  # a device that has no name
        assert [(loss.cause, loss.count) for loss in hook.report().losses] == [("unsupported", 2)]


def test_save_memory_used_wrongly(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        x = hook.declare("x")
        with pytest.raises(ValueError, match="dtype_code"):
            hook.save_memory(x, 64, 99, (2,))
        with pytest.raises(TypeError, match="shape as a tuple"):
            hook.save_memory(x, 64, FLOAT32, [2])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="at most 16 dimensions"):
            hook.save_memory(x, 64, FLOAT32, (1,) * 17)
        with pytest.raises(ValueError):
            hook.save_memory(x, 64, FLOAT32, (-1,))
        with pytest.raises(ValueError):
            hook.save_memory(x, 64, FLOAT32, (2, 2), (1,))
        with pytest.raises(TypeError):
            hook.save_memory(x, 64, FLOAT32, ("a",))  # type: ignore[arg-type]


def test_a_batch_saves_what_is_wanted(run_dir: Path) -> None:
    arrays = [np.full((2, 2), i, np.float32) for i in range(4)]
    with tw.Hook(run_dir, include=["^[02]$"], save=2) as hook:
        batch = _core.TensorBatch(hook)
        for i in range(4):
            batch.add(hook.declare(str(i)), FLOAT32, (2, 2), (1, 2) if i == 2 else None)
        assert len(batch) == 4
        for step in range(4):
            addresses: list[int | None] = [array.ctypes.data for array in arrays]
            if step == 2:
                addresses[0] = None
            batch.save(addresses)
            hook.step()
        with pytest.raises(ValueError, match="expected 4 addresses.*found 1"):
            batch.save([1])
        with pytest.raises(TypeError):
            batch.save(["a"] * 4)  # type: ignore[list-item]
    trial = tw.open(run_dir)
    assert trial.tensor_names() == ["0", "2"]
    assert trial.tensor("0").steps() == [0] and trial.tensor("2").steps() == [0, 2]
    assert trial.value("2", 2).tolist() == [[2, 2], [2, 2]]


def test_a_batch_keeps_its_hook(run_dir: Path) -> None:
    batch = _core.TensorBatch(tw.Hook(run_dir, save_all=True, save=1))
    batch.save([])
