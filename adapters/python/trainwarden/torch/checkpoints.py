"""Checkpoints: is what torch.save wrote what the model was, and does the file read back as it was written?

The tensors are looked at where torch.save was called, while the parameters are still the same; the file is read by a
thread of low priority, through a descriptor that follows it when the program renames it.
"""

from __future__ import annotations

import _thread
import fcntl
import io
import json
import os
import queue
import threading
import time
import zipfile
from collections.abc import Iterator
from typing import Any, Optional

import torch

from .. import faults
from .contents import is_plain_tensor
from .module_tree import buffers_of, is_module, named_modules, named_parameters
from .naming import model_name

# Deeper nested values are not looked into, nor more of them than this.
_MAX_DEPTH = 8
_MAX_TENSORS = 100_000
_CHUNK = 1 << 20
# A file is judged when nobody has changed it for so long; one that never comes to rest is not.
_REST_SECONDS = 0.2
_MAX_LOOKS = 50
_LOWEST_PRIORITY = 19

Named = list[tuple[str, torch.Tensor]]
# Each answer is the file, which knows its name once the program is done with it, and the findings.
Answers = queue.SimpleQueue[tuple["_OpenFile", dict[str, Any]]]
# Descriptors from here on: the program's next file gets the number that it would have without us.
_HIGH_DESCRIPTORS = 512


class _OpenFile:
    """A file that is read beside the program, which may close the descriptor and have it for a file of its own."""

    def __init__(self, path: str) -> None:
        low = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.descriptor = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTORS)
            self._identity = _identity_of(self.descriptor)
        finally:
            os.close(low)

    def is_ours(self) -> bool:
        try:
            return _identity_of(self.descriptor) == self._identity
        except OSError:
            return False

    def close(self) -> None:
        if self.is_ours():
            os.close(self.descriptor)


def _identity_of(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


class Checkpoints:
    """Looks at the checkpoints of one process. Used by the thread that trains."""

    def __init__(self) -> None:
        self._answers: Answers = queue.SimpleQueue()
        self._waiting: list[threading.Event] = []  # of files that are being read; set when one has been

    def see(self, what: Any, file: Any, seconds: float, parameters: Named) -> None:
        """torch.save(what, file) has come to its end. `parameters`: those of the models, by the models' own names."""
        path = _path_of(file)
        if path is None:
            return
        if hasattr(file, "flush"):
            file.flush()  # or what the program's own buffer still holds would be missing
        tensors = list(_tensors_in(what))
        if not tensors:
            return
        opened, is_read = _OpenFile(path), threading.Event()
        try:
            found = {
                "path": path,
                "bytes": 0,
                "tensors": len(tensors),
                "non_finite": sum(not _is_finite(tensor) for _, tensor in tensors),
                "different": _count_different(tensors, parameters),
                "damaged": 0,
                "seconds": seconds,
            }
            # Not one of the module threading: programs wait for all that threading.enumerate() lists.
            _thread.start_new_thread(_verify, (opened, found, self._answers, is_read))
        except BaseException:
            opened.close()
            raise
        self._waiting = [each for each in self._waiting if not each.is_set()] + [is_read]

    def answers(self) -> list[str]:
        """What has become known since the last time, each as JSON."""
        known = []
        while not self._answers.empty():
            opened, found = self._answers.get()
            found["path"] = _path_now(opened, found["path"])
            opened.close()
            known.append(json.dumps(found))
        return known

    def wait(self, timeout_s: float) -> None:
        """Until all files that were seen have been read, or that long."""
        deadline = time.monotonic() + timeout_s
        for is_read in self._waiting:
            is_read.wait(max(0.0, deadline - time.monotonic()))


def _path_of(file: Any) -> Optional[str]:
    """The absolute path of the file that torch.save writes; None when that is no file of its own."""
    is_plain = type(file) in (io.BufferedWriter, io.BufferedRandom, io.FileIO)  # a class of the program's is not asked
    name = file.name if is_plain else file
    if not isinstance(name, (str, os.PathLike)):
        return None
    path = os.path.abspath(os.fspath(name))
    return str(path) if os.path.isfile(path) else None


def _tensors_in(value: Any, name: str = "", depth: int = _MAX_DEPTH) -> Iterator[tuple[str, torch.Tensor]]:
    """Each tensor with the key that it has in the innermost mapping: the name that it has in the model."""
    if is_module(value):
        yield from _tensors_of_module(value)
    elif is_plain_tensor(value):
        if value.layout is torch.strided and not value.is_meta and not value.is_quantized:
            yield name, value.detach()
    elif depth > 0 and issubclass(type(value), dict):
        for key, item in list(dict.items(value)):
            yield from _tensors_in(item, key if type(key) is str else "", depth - 1)
    elif depth > 0 and issubclass(type(value), (list, tuple)):
        for item in (list if issubclass(type(value), list) else tuple).__iter__(value):
            yield from _tensors_in(item, "", depth - 1)


def _tensors_of_module(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Parameters and buffers by their names in it."""
    for name, parameter in named_parameters(module):
        yield from _tensors_in(parameter, name, 0)
    for path, each in named_modules(module):
        for name, buffer in buffers_of(each):
            yield from _tensors_in(buffer, f"{path}.{name}" if path else name, 0)


def _is_finite(tensor: torch.Tensor) -> bool:
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.numel() == 0:
        return True
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    if tensor.dtype in (torch.float32, torch.float64):
        low, high = torch.aminmax(tensor)  # NaN goes through both; no copy of a tensor that may be large
        return bool(torch.isfinite(low) & torch.isfinite(high))
    return bool(torch.isfinite(tensor).all())


def _count_different(tensors: Named, parameters: Named) -> int:
    """How many have the name and the shape of a parameter, but of none the bits."""
    by_name: dict[str, list[torch.Tensor]] = {}
    for name, parameter in parameters:
        by_name.setdefault(name, []).append(parameter)
    different = 0
    for name, tensor in tensors:
        alike = [each for each in by_name.get(_own_name(name), ()) if each.shape == tensor.shape]
        different += bool(alike) and not any(_same_bits(tensor, each) for each in alike)
    return different


def _own_name(name: str) -> str:
    """Without what DataParallel and the like put before it."""
    return model_name(name.removeprefix("module."))


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.dtype != b.dtype:
        return False
    if a.device == b.device and a.data_ptr() == b.data_ptr() and a.stride() == b.stride():
        return True
    as_integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}.get(a.element_size())
    a, b = a.detach().to(b.device).contiguous(), b.detach().contiguous()
    if as_integers is None or a.is_complex():
        return bool(torch.equal(a, b))
    return bool(torch.equal(a.view(as_integers), b.view(as_integers)))


# In a thread of its own.


def _verify(opened: _OpenFile, found: dict[str, Any], answers: Answers, is_read: threading.Event) -> None:
    try:
        _lower_priority()
        with os.fdopen(opened.descriptor, "rb", buffering=0, closefd=False) as file:
            damaged = _damage_at_rest(file)
        if not opened.is_ours():
            return  # the program has closed it, and what was read last may be another file
        found["bytes"] = os.fstat(opened.descriptor).st_size
        if damaged is None:
            del found["damaged"]
        else:
            found["damaged"] = damaged
        answers.put((opened, found))
    except Exception as error:  # the file could not be read: which is no answer about what is in it
        if opened.is_ours():
            opened.close()
            faults.report("read a checkpoint back", error)
    finally:
        is_read.set()


def _lower_priority() -> None:
    if hasattr(os, "setpriority"):
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)
        except OSError:  # then it is one like any other
            pass


def _damage_at_rest(file: Any) -> Optional[int]:
    """The damage once nobody writes the file any more: it may have been open still, or the next one overwrites it."""
    for _ in range(_MAX_LOOKS):
        before = _state_of(file)
        damaged = _damage_in(file)
        if damaged == 0 and _state_of(file) == before:
            return 0
        time.sleep(_REST_SECONDS)
        if _state_of(file) == before:
            return damaged
    return None


def _state_of(file: Any) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_mtime_ns, status.st_size


def _damage_in(file: Any) -> Optional[int]:
    """Parts that do not read back as they were written; None: the file is of a kind that has no checksums."""
    file.seek(0)
    if not _has_checksums(file.read(4)):
        return None
    try:
        with zipfile.ZipFile(file) as archive:
            return sum(not _reads_back(archive, part) for part in archive.infolist())
    except zipfile.BadZipFile:
        return 1


def _has_checksums(magic: bytes) -> bool:
    get_options = getattr(torch.serialization, "get_crc32_options", None)
    return magic[:2] != b"\x80\x02" and (get_options is None or bool(get_options()))


def _reads_back(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    try:
        with archive.open(part) as content:
            while content.read(_CHUNK):
                pass
        return True
    except (zipfile.BadZipFile, EOFError):
        return False


def _path_now(opened: _OpenFile, path: str) -> str:
    """Where the file is now: programs write beside the old one and rename."""
    try:
        now = os.readlink(f"/proc/self/fd/{opened.descriptor}")
    except OSError:
        return path
    return now if opened.is_ours() and os.path.isfile(now) else path
