"""What may be handed over as a tensor, and what comes back."""

from __future__ import annotations

import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trainwarden as tw
from trainwarden import _core, arrays

ml_dtypes = pytest.importorskip("ml_dtypes")
torch = pytest.importorskip("torch")

Save = Callable[..., Any]


@pytest.fixture
def round_trip(run_dir: Path) -> Callable[[object], Any]:
    """Saves a tensor and reads it back."""

    def round_trip(value: object) -> Any:
        with tw.Hook(run_dir, save_all=True, save=1) as hook:
            hook.save_tensor("x", value)
            hook.step()
            assert hook.report().losses == []
        return tw.open(run_dir).value("x", 0)

    return round_trip


NUMPY_DTYPES = "? b h i q B H I Q e f d F D".split()
SMALL_FLOATS = ["bfloat16", "float8_e4m3fn", "float8_e5m2"]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_dtypes(round_trip: Save, dtype: str) -> None:
    saved = (np.random.default_rng(1).integers(0, 2, (3, 4)) * 3).astype(dtype)
    read = round_trip(saved)
    assert read.dtype == saved.dtype
    np.testing.assert_array_equal(read, saved)


@pytest.mark.parametrize("dtype", SMALL_FLOATS)
def test_small_floats(round_trip: Save, dtype: str) -> None:
    bits = 16 if dtype == "bfloat16" else 8
    saved = np.arange(1 << bits, dtype=f"uint{bits}").view(getattr(ml_dtypes, dtype))
    read = round_trip(saved)
    assert read.dtype == saved.dtype
    assert read.tobytes() == saved.tobytes()


@pytest.mark.parametrize("dtype", SMALL_FLOATS)
def test_small_floats_without_ml_dtypes(run_dir: Path, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_ml_dtypes", None)
    bits = 16 if dtype == "bfloat16" else 8
    saved = np.arange(1 << bits, dtype=f"uint{bits}").view(getattr(ml_dtypes, dtype))
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("x", saved)
        hook.step()
    read = tw.open(run_dir).value("x", 0)
    assert read.dtype == np.float32 and not read.flags.writeable
    np.testing.assert_array_equal(read, saved.astype(np.float32))


BASE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
RECORDS = np.zeros(3, dtype=[("a", "i1"), ("b", "<f4")])
RECORDS["b"] = [1, 2, 3]


LAYOUTS = "transposed gaps backwards broadcast fortran empty 0-d number foreign records small".split()


@pytest.mark.parametrize(
    "saved",
    [
        BASE.T,
        BASE[:, ::2],
        BASE[::-1, :, 1:3],
        np.broadcast_to(np.float32(2), (3, 2)),
        np.asfortranarray(BASE),
        BASE[:0],
        np.array(3.5),
        np.float32(1.5),
        np.ones(3, ">f4"),
        RECORDS["b"],
        np.arange(6, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(2, 3).T,
    ],
    ids=LAYOUTS,
)
def test_layouts(round_trip: Save, saved: Any) -> None:
    read = round_trip(saved)
    assert read.shape == saved.shape
    np.testing.assert_array_equal(read.astype(np.float32), saved.astype(np.float32))


def test_memory_of_any_kind(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("memoryview", memoryview(b"abc"))
        hook.save_tensor("bytearray", bytearray(b"abc"))
        hook.save_tensor("array", array.array("d", [1, 2]))
        hook.save_tensor("int", 3)
        hook.save_tensor("bool", True)
        hook.save_tensor("list", [[1, 2], [3, 4]])
        hook.step()
    trial = tw.open(run_dir)
    assert trial.value("memoryview", 0).tolist() == [97, 98, 99]
    assert trial.value("bytearray", 0).dtype == np.uint8
    assert trial.value("array", 0).tolist() == [1.0, 2.0]
    assert trial.scalar("int", 0) == 3 and trial.value("bool", 0).dtype == bool
    assert trial.value("list", 0).tolist() == [[1, 2], [3, 4]]


def test_texts(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("one", "Grüße")
        hook.save_tensor("list", ["a", "", "ccc"])
        hook.save_tensor("numpy", np.array(["x", "yy"]))
        hook.save_tensor("bytes", [b"\xff\x00"])
        hook.save_strings("strings", ["p", "q"])
        hook.step()
    trial = tw.open(run_dir)
    assert trial.value("one", 0).tolist() == ["Grüße"]
    assert trial.value("list", 0).tolist() == ["a", "", "ccc"]
    assert trial.value("numpy", 0).tolist() == ["x", "yy"]
    assert trial.value("bytes", 0)[0].encode("utf-8", "surrogateescape") == b"\xff\x00"
    assert trial.value("strings", 0).tolist() == ["p", "q"] and trial.value("strings", 0).dtype == object


@pytest.mark.parametrize("name", ["bool", "int64", "float16", "bfloat16", "float32", "complex64"])
def test_torch(round_trip: Save, name: str) -> None:
    saved = torch.tensor([[1, 0], [2, 3]]).to(getattr(torch, name))
    assert round_trip(saved.t()).astype(np.complex64).tolist() == saved.t().to(torch.complex64).tolist()


def test_torch_tensors_that_need_a_gradient_and_views(run_dir: Path) -> None:
    weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("weight", weight)
        hook.save_tensor("conj", torch.tensor([1 + 2j]).conj())
        hook.save_tensor("expanded", torch.ones(1).expand(3))
        hook.step()
    trial = tw.open(run_dir)
    assert trial.value("weight", 0).tolist() == weight.tolist()
    assert trial.value("conj", 0).tolist() == [1 - 2j]
    assert trial.value("expanded", 0).tolist() == [1, 1, 1]
    assert weight.grad_fn is None and weight.requires_grad


def test_what_nobody_can_read_is_a_loss_and_no_exception(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("sparse", torch.eye(3).to_sparse())
        hook.save_tensor("meta", torch.ones(2, device="meta"))
        hook.save_tensor("quantized", torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8))
        hook.save_tensor("device", Dlpack(np.ones(2), device=(8, 0)))
        hook.save_tensor("dimensions", np.ones((1,) * 17))
        hook.step()
        (loss,) = hook.report().losses
        assert (loss.cause, loss.count) == ("unsupported", 5)
        assert "sparse" in loss.first_message


class Dlpack:
    """An array of a framework that only speaks DLPack."""

    def __init__(self, array: Any, device: tuple[int, int] = (1, 0)):
        self.array = array
        self.device = device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **arguments: object) -> Any:
        if self.device != (1, 0):
            raise BufferError("cannot export this device")
        arguments.pop("max_version", None)
        return self.array.__dlpack__(**arguments)


def test_dlpack(round_trip: Save) -> None:
    assert round_trip(Dlpack(BASE.T)).tolist() == BASE.T.tolist()


def test_no_copy_on_the_way_in() -> None:
    """The statistics are of the memory as it is, however large: what is added is less than a copy would be."""
    large = np.zeros(1 << 24, np.float32)
    before = peak_bytes()
    for _ in range(3):
        tw.compute_statistics(large)
        tw.compute_statistics(torch.from_numpy(large))
        tw.compute_statistics(Dlpack(large))
    assert peak_bytes() - before < large.nbytes / 4


def peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def test_the_tensor_is_free_again_after_the_call(run_dir: Path) -> None:
    value = np.zeros(4)
    with tw.Hook(run_dir, save_all=True, save=1) as hook:
        hook.save_tensor("x", value)
        value[:] = 9  # the hook has its own copy by now
        value.resize(8, refcheck=True)  # and looks at the array no more
        hook.step()
    assert tw.open(run_dir).value("x", 0).tolist() == [0, 0, 0, 0]


def test_statistics_of_a_tensor() -> None:
    statistics = tw.compute_statistics(np.array([-1.0, 0.0, 3.0, np.nan, np.inf]), histogram=True, hash=True)
    assert (statistics.count, statistics.nan_count, statistics.inf_count, statistics.zero_count) == (5, 1, 1, 1)
    assert (statistics.min, statistics.max, statistics.abs_max) == (-1, 3, 3)
    assert statistics.mean == pytest.approx(2 / 3) and np.isnan(statistics.reduction(tw.Reduction.MEAN))
    assert statistics.l2 == pytest.approx(10**0.5)
    histogram = statistics.histogram
    assert histogram is not None
    assert histogram.counts.tolist() == [1, 1, 1]
    assert (histogram.lower[:-1] <= histogram.lower[1:]).all() and (histogram.lower <= histogram.upper).all()
    for number, lower, upper in zip([-1, 0, 3], histogram.lower, histogram.upper):
        assert lower <= number <= upper
    assert statistics.hash is not None
    part = tw.compute_statistics(np.array([-1.0, 0.0]), histogram=True)
    rest = tw.compute_statistics(np.array([3.0, np.nan, np.inf]), histogram=True)
    assert part.merged(rest) == tw.compute_statistics(np.array([-1.0, 0.0, 3.0, np.nan, np.inf]), histogram=True)
    assert part != rest and part != "statistics"


def test_a_small_float_that_we_do_not_have(run_dir: Path) -> None:
    with tw.Hook(run_dir, save_all=True, save=1) as hook, pytest.raises(TypeError, match="float8_e4m3$"):
        hook.save_tensor("x", np.zeros(2, ml_dtypes.float8_e4m3))


def test_dtype_codes() -> None:
    assert _core.dtype_code("float32") == _core.dtype_code("torch.float32") == 11
    assert _core.dtype_code("float8_e4m3fn") == 13
    with pytest.raises(ValueError, match='no dtype "float33"'):
        _core.dtype_code("float33")
