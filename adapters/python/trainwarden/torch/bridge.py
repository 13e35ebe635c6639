"""Bridge: hands the memory of a torch tensor over to the hook. The one place that knows its memory layout."""

from __future__ import annotations

from typing import Any, Callable, Optional

import torch

from .._core import dtype_code
from .contents import has_own_operators, is_tensor

_DTYPE_NAMES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128",
)  # fmt: skip
# DLPack's numbers of devices.
_CPU, _CUDA, _EXTENSION = 1, 2, 12
_ROCM = 10
_COMPRESSED = tuple(getattr(torch, f"sparse_{kind}") for kind in ("csr", "csc", "bsr", "bsc") if hasattr(torch, f"sparse_{kind}"))
# Types whose memory is what it seems. Other subclasses (DTensor, FakeTensor, ...) are looked at more closely.
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _dtype_codes() -> dict[torch.dtype, int]:
    codes = {}
    for name in _DTYPE_NAMES:
        dtype = getattr(torch, name, None)
        if dtype is not None:
            codes[dtype] = dtype_code(name)
    return codes


_CODES = _dtype_codes()
_UINT8 = _CODES[torch.uint8]
# Complex tensors may be conjugated lazily, so their memory is not what it seems.
_PLAIN_CODES = {dtype: code for dtype, code in _CODES.items() if not dtype.is_complex}
_GPU = _ROCM if getattr(torch.version, "hip", None) else _CUDA


class Group:
    """A with block whose tensors on a GPU are read together, in one launch at its end. Until then they must stay."""

    def __init__(self, hook: Any) -> None:
        self._begin, self._end = hook.begin_group, hook.end_group
        self._held: Optional[list[torch.Tensor]] = None  # None: no block is open

    def __enter__(self) -> None:
        self._held = []
        self._begin()

    def __exit__(self, *_: object) -> None:
        self._end()
        self._held = None

    def hold(self, copy: torch.Tensor) -> None:
        """Keeps a copy that nobody else holds until it has been read."""
        if self._held is not None:
            self._held.append(copy)


class Bridge:
    """Saves tensors of torch into a hook. The tensor is neither kept nor changed, and no stream is waited for."""

    def __init__(self, hook: Any) -> None:
        self.group = Group(hook)
        self._save_memory = hook.save_memory
        self._hook = hook

    def save(self, tensor_id: int, tensor: torch.Tensor) -> None:
        """Saves the tensor under this number if it is wanted.

        A sparse one stands there by the values that it holds, as they lie in memory. One whose memory cannot be read
        (quantised, another device, a class with operators of its own) is counted as unsupported; one that has no values
        at all is passed over.
        """
        code = _PLAIN_CODES.get(tensor.dtype)
        if code is None or type(tensor) not in _PLAIN or tensor.layout is not torch.strided:
            self._save_other(tensor_id, tensor)
            return
        try:
            address = tensor.data_ptr()
        except RuntimeError:  # inside torch.func, whose tensors look like others and have no values of their own
            return
        if address == 0 and torch._is_functional_tensor(tensor):  # torch < 2.2 traces with them
            return
        strides = None if tensor.is_contiguous() else tensor.stride()
        if tensor.is_cpu:
            self._save_memory(tensor_id, address, code, tensor.shape, strides)
        elif tensor.is_cuda:
            index = tensor.get_device()
            self._save_memory(tensor_id, address, code, tensor.shape, strides, _GPU, index, _stream_of(index))
        else:
            self._save_other(tensor_id, tensor)

    def _save_other(self, tensor_id: int, tensor: torch.Tensor) -> None:
        tensor = _local(tensor)
        if has_own_operators(type(tensor)):
            self._count_unsupported(tensor_id)
            return
        if hasattr(tensor, "trigger_wait"):  # AsyncCollectiveTensor: what a collective operation writes, which may still run
            if not self._hook.wants(tensor_id):
                return
            with torch.no_grad():
                tensor = tensor.wait()  # as the program does before it computes with it
        if not _has_values(tensor):
            return
        tensor = _held_by(tensor)
        device = _device_of(tensor)
        code = _CODES.get(tensor.dtype)
        if code is None or device is None or tensor.layout is not torch.strided or tensor.is_quantized:
            self._count_unsupported(tensor_id)
            return
        with torch.no_grad():
            plain = tensor.resolve_conj().resolve_neg()
        if plain is not tensor:
            self.group.hold(plain)
        index = plain.device.index or 0
        stream = _stream_of(index) if device == _GPU else 0
        self._save_memory(tensor_id, plain.data_ptr(), code, tuple(plain.shape), plain.stride(), device, index, stream)

    def _count_unsupported(self, tensor_id: int) -> None:
        self._save_memory(tensor_id, 0, _UINT8, (0,), None, _EXTENSION)


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """The part of a distributed tensor (DTensor) in this process."""
    local = getattr(tensor, "_local_tensor", None)
    return local if is_tensor(local) else tensor


def _held_by(tensor: torch.Tensor) -> torch.Tensor:
    """What a sparse tensor holds, as the rows of an embedding that have a gradient, each as often as it was looked up: it
    is neither made dense nor summed up, which would cost memory and time."""
    if tensor.layout is torch.sparse_coo:
        return tensor._values()
    return tensor.values() if tensor.layout in _COMPRESSED else tensor


def _device_of(tensor: torch.Tensor) -> Optional[int]:
    return {"cpu": _CPU, "cuda": _GPU}.get(tensor.device.type)


def _has_values(tensor: torch.Tensor) -> bool:
    """Not one on the device "meta", nor one that stands for others, or for none (FakeTensor)."""
    return not tensor.is_meta and type(tensor).__torch_dispatch__ is torch.Tensor.__torch_dispatch__


def _current_stream(index: int) -> int:
    return int(torch.cuda.current_stream(index).cuda_stream)


# The same without making an object for the stream, where this build of torch has it.
_stream_of: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _current_stream)
