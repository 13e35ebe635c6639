"""Loading: the state in a checkpoint, without running the code that a pickle can name."""

from __future__ import annotations

import os
import pickle
import zipfile
from typing import Any

import torch
from torch import serialization

from ..errors import Error

_HOW = "If you trust who wrote it, restore(..., trusted=True) loads it; loading then runs code that the file names"

# What a pickle of tensors, numbers, texts and containers names. torch.load finds the storages by itself.
_HARMLESS = {
    ("collections", "OrderedDict"),
    ("torch", "Size"),
    ("torch", "device"),
    ("torch._utils", "_rebuild_parameter"),
    ("torch._utils", "_rebuild_tensor_v2"),
}


def load_state(file: Any, *, trusted: bool) -> Any:
    """What torch.save wrote into `file`, a path or a file that is open, on the CPU.

    trusted: objects of any kind. Otherwise tensors, numbers, texts and containers of them, and Error for all else.
    """
    if trusted:
        more = {} if _is_before_2() else {"weights_only": False}
        return torch.load(file, map_location="cpu", **more)
    _check_archive(file)
    try:
        if _is_before_2():
            return _load_by_list(file)
        return torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError) as error:
        raise Error(
            "expected a checkpoint of tensors, numbers, texts and containers of them, and found something else, or "
            f"damage: {error}. {_HOW}"
        ) from error


def _is_before_2() -> bool:
    """Whose weights_only is missing (1.12) or takes no floating-point numbers, which each optimizer has (1.13)."""
    return int(torch.__version__.split(".")[0]) < 2


def _check_archive(file: Any) -> None:
    """Older formats and compiled programs go other ways through torch.load, where weights_only did not always hold."""
    start = None if isinstance(file, (str, os.PathLike)) else file.tell()
    try:
        with zipfile.ZipFile(file) as archive:
            names = {name.split("/", 1)[-1] for name in archive.namelist()}
    except zipfile.BadZipFile as error:
        raise Error(f"expected an archive of torch.save, and found something else: {error}. {_HOW}") from error
    finally:
        if start is not None:
            file.seek(start)
    if "constants.pkl" in names or "data.pkl" not in names:
        raise Error(f"expected an archive of torch.save, and found a compiled program or something else. {_HOW}")


class _ByList(pickle.Unpickler):
    def find_class(self, module_name: str, name: str) -> Any:
        if (module_name, name) in _HARMLESS:
            return super().find_class(module_name, name)
        found = getattr(torch, name, None) if module_name == "torch" else None
        if isinstance(found, torch.dtype):
            return found
        raise pickle.UnpicklingError(f"it names {module_name}.{name}")


class _ListedPickle:
    """Passes for the module pickle."""

    Unpickler = _ByList


def _load_by_list(file: Any) -> Any:
    """torch.load of 1.13 takes no other pickle than the usual one, whatever it is given; what it calls does."""
    with serialization._open_file_like(file, "rb") as opened, serialization._open_zipfile_reader(opened) as archive:
        return serialization._load(archive, "cpu", _ListedPickle, encoding="utf-8")
