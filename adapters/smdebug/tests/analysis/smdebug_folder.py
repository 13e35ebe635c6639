"""Writes folders as smdebug does, byte by byte: a writer that shares no code with the readers."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Value = Union[Array, "list[str]"]

_MODES = {"TRAIN": 1, "EVAL": 2, "PREDICT": 3, "GLOBAL": 4}
_DTYPES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int64": 9, "bool": 10, "float16": 19}
_FOOTER_TEXT = b"0x12345678"  # what smdebug takes the checksum of, whatever the record holds


def _crc32c_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc32c_table()


def masked_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(number: int, content: bytes | int) -> bytes:
    """A protobuf field: bytes with their length, or a number."""
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _tensor(value: Value, tag: str) -> bytes:
    sizes = [len(value)] if isinstance(value, list) else list(value.shape)
    dims = b"".join(_field(2, _field(1, size) + _field(2, f"{tag}_{size}".encode())) for size in sizes)
    if isinstance(value, list):
        return _field(2, dims) + b"".join(_field(8, text.encode()) for text in value)
    return _field(1, _DTYPES[value.dtype.name]) + _field(2, dims) + _field(4, value.tobytes())


def _plugin(name: str, content: str) -> bytes:
    return _field(1, _field(1, name.encode()) + _field(2, content.encode()))


def event_record(tag: str, value: Value, step: int, mode: str, mode_step: int, true_checksum: bool = False) -> bytes:
    """One record of an event file, header and footer included."""
    metadata = _plugin("mode_step", str(mode_step)) + _plugin("mode", str(_MODES[mode]))
    summary_value = _field(1, tag.encode()) + _field(8, _tensor(value, tag)) + _field(9, metadata)
    payload = b"\x09" + struct.pack("<d", 1.5e9) + (_field(2, step) if step else b"")
    payload += _field(5, _field(1, summary_value))
    length = struct.pack("<Q", len(payload))
    footer = masked_crc32c(payload if true_checksum else _FOOTER_TEXT)
    return length + struct.pack("<I", masked_crc32c(length)) + payload + struct.pack("<I", footer)


class SmdebugFolder:
    """A run of smdebug's that is being written."""

    def __init__(
        self,
        path: Path,
        workers: Sequence[str] = ("worker_0",),
        collections: Mapping[str, Sequence[str]] | None = None,
    ):
        """`collections`: patterns by name. Each worker leaves a manifest at once."""
        self.path = path
        named = {"all": [".*"], "default": [], **(collections or {})}
        for worker in workers:
            self._write(f"collections/000000000/{worker}_collections.json", _manifest(named, len(workers)))

    def step(
        self,
        step: int,
        tensors: Mapping[str, Value] | None = None,
        *,
        worker: str = "worker_0",
        mode: str = "GLOBAL",
        mode_step: int | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
        true_checksum: bool = False,
        extension: str = "json",
    ) -> Path:
        """One worker's tensors of one global step; `tensors` may have names of reductions. Gives the index file."""
        mode_step = step if mode_step is None else mode_step
        tensors = {"loss": np.array([float(step)])} if tensors is None else tensors
        events, payload = b"", []
        for name, value in tensors.items():
            record = event_record(name, value, step, mode, mode_step, true_checksum)
            payload.append({"tensorname": name, "start_idx": len(events), "length": len(record)})
            events += record
        name = f"events/{step:012d}/{step:012d}_{worker}.tfevents"
        if events:
            self._write(name, events)
        described = [
            {"tensorname": tensor, "originalname": f"original/{tensor}", "shape": list(shape)}
            for tensor, shape in (shapes or {}).items()
        ]
        meta = {"mode": mode, "mode_step": mode_step, "event_file_name": name if events else None}
        index = {"meta": meta, "tensor_payload": payload, "shape_payload": described}
        return self._write(f"index/{step // 1000:09d}/{step:012d}_{worker}.{extension}", json.dumps(index).encode())

    def end(self) -> None:
        self._write("training_job_end.ts", b"")

    def _write(self, name: str, content: bytes) -> Path:
        """As smdebug does it: under another name first."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_name(file.name + ".tmp").write_bytes(content)
        return file.with_name(file.name + ".tmp").rename(file)


def _manifest(collections: Mapping[str, Sequence[str]], num_workers: int) -> bytes:
    described = {
        name: {
            "name": name,
            "include_regex": list(patterns),
            "tensor_names": [],
            "reduction_config": None,
            "save_config": None,
            "save_histogram": True,
        }
        for name, patterns in collections.items()
    }
    return json.dumps({"collections": described, "_meta": {"num_workers": num_workers}}).encode()
