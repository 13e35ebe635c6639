"""What the race writes: three loads, and the pool of numbers that their tensors are pieces of."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

POOL_BYTES = 320 << 20
TINY_POOL_BYTES = 12 << 20
_PAGE = 4096  # the pool's pieces begin at multiples of it


@dataclass(frozen=True)
class Tensor:
    """One tensor of every step."""

    name: str
    shape: tuple[int, ...]
    offset: int  # in the pool, at step 0

    @property
    def bytes(self) -> int:
        return 4 * prod(self.shape)


@dataclass(frozen=True)
class Load:
    """So many steps of the same tensors. Each step's tensors lie `shift` bytes behind those of the step before, so that
    they have other numbers."""

    name: str
    words: str
    steps: int
    shift: int
    tensors: tuple[Tensor, ...]

    @property
    def step_bytes(self) -> int:
        return sum(tensor.bytes for tensor in self.tensors)

    @property
    def middle(self) -> str:
        """The tensor that is read alone."""
        return self.tensors[len(self.tensors) // 2].name


def _load(
    name: str, words: str, steps: int, tensors: list[tuple[str, tuple[int, ...]]], pool: int = POOL_BYTES
) -> Load:
    placed, end = [], 0
    for tensor, shape in tensors:
        placed.append(Tensor(tensor, shape, end))
        end += -(-4 * prod(shape) // _PAGE) * _PAGE
    shift = min((pool - end) // max(steps - 1, 1), 16 << 20) // _PAGE * _PAGE
    if shift <= 0:
        raise ValueError(f"{name}: a step of {end} bytes leaves no room in the pool of {pool}")
    return Load(name, words, steps, shift, tuple(placed))


def resnet50() -> list[tuple[str, tuple[int, ...]]]:
    """The parameters of a ResNet-50, as PyTorch names them."""
    found: list[tuple[str, tuple[int, ...]]] = []

    def convolution(name: str, norm: str, out: int, inputs: int, side: int) -> None:
        found.append((f"{name}.weight", (out, inputs, side, side)))
        found.extend([(f"{norm}.weight", (out,)), (f"{norm}.bias", (out,))])

    convolution("conv1", "bn1", 64, 3, 7)
    inputs = 64
    for layer, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], start=1):
        for block in range(blocks):
            prefix = f"layer{layer}.{block}."
            convolution(prefix + "conv1", prefix + "bn1", width, inputs, 1)
            convolution(prefix + "conv2", prefix + "bn2", width, width, 3)
            convolution(prefix + "conv3", prefix + "bn3", 4 * width, width, 1)
            if block == 0:
                convolution(prefix + "downsample.0", prefix + "downsample.1", 4 * width, inputs, 1)
            inputs = 4 * width
    return found + [("fc.weight", (1000, inputs)), ("fc.bias", (1000,))]


def _mixed() -> list[tuple[str, tuple[int, ...]]]:
    parameters = resnet50()
    return parameters + [(name + ".grad", shape) for name, shape in parameters]


def _small() -> list[tuple[str, tuple[int, ...]]]:
    return [(f"encoder.layer.{i // 16}.part.{i % 16}.weight", (32, 32)) for i in range(2000)]


def all_loads() -> dict[str, Load]:
    """By name. Three steps and more, so that one tensor over all steps is something else than one read."""
    loads = [
        _load("small", "2,000 tensors of 4 KiB a step, 6 steps", 6, _small()),
        _load("mixed", "weights and gradients of a ResNet-50, 322 tensors and 204 MB a step, 3 steps", 3, _mixed()),
        _load(
            "large", "4 tensors of 64 MiB a step, 3 steps", 3, [(f"activation.{i}", (4096, 4096)) for i in range(4)]
        ),
    ]
    return {load.name: load for load in loads}


def tiny_loads() -> dict[str, Load]:
    """The same in small, for tests."""
    loads = [
        _load("small", "20 tensors of 4 KiB a step, 3 steps", 3, _small()[:20], TINY_POOL_BYTES),
        _load("mixed", "8 tensors of a ResNet-50 a step, 3 steps", 3, _mixed()[:8], TINY_POOL_BYTES),
        _load(
            "large",
            "2 tensors of 1 MiB a step, 3 steps",
            3,
            [(f"activation.{i}", (512, 512)) for i in range(2)],
            TINY_POOL_BYTES,
        ),
    ]
    return {load.name: load for load in loads}


def write_pool(path: Path, bytes_: int) -> None:
    """Numbers as weights and gradients have them: normally distributed float32, which no compressor shrinks by much."""
    generator = np.random.default_rng(20)
    with path.open("wb") as file:
        for _ in range(bytes_ >> 22):
            file.write((generator.standard_normal(1 << 20, dtype=np.float32) * np.float32(0.02)).tobytes())


def save_load(load: Load, path: Path) -> None:
    """For the contenders in C++, which read it."""
    tensors = [{"name": t.name, "shape": list(t.shape), "offset": t.offset} for t in load.tensors]
    path.write_text(json.dumps({"steps": load.steps, "shift": load.shift, "tensors": tensors}), encoding="utf-8")


class Pool:
    """The pool in memory, and the tensors that are pieces of it."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
            self._map = mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ)
        self._numbers = np.frombuffer(self._map, dtype=np.float32)

    def tensor(self, load: Load, tensor: Tensor, step: int) -> np.ndarray:
        begin = (tensor.offset + step * load.shift) // 4
        return self._numbers[begin : begin + tensor.bytes // 4].reshape(tensor.shape)

    def step(self, load: Load, step: int) -> Iterator[tuple[str, np.ndarray]]:
        return ((tensor.name, self.tensor(load, tensor, step)) for tensor in load.tensors)


def folder_bytes(folder: Path) -> int:
    """How much the files in it hold."""
    return sum(os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names)
