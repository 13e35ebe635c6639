"""Numbers: what was measured in a step, put together into one tensor, so that a GPU is not waited for."""

from __future__ import annotations

import json
from typing import Any, Sequence, Union

import torch

from ..contents import is_plain_tensor, is_tensor

Number = Union[float, int, torch.Tensor]

# A number that is written later.
Waiting = Union[float, torch.Tensor]


def waiting(number: torch.Tensor) -> Waiting:
    """Read at once where that waits for nobody: small tensors that stay in the heap, between large ones of the training
    that go, keep their memory from being used again. Else a copy."""
    number = number.detach()
    return float(number) if number.device.type == "cpu" else number.clone()


def joined(numbers: Sequence[Waiting]) -> Union[Sequence[float], torch.Tensor]:
    """For Numbers.add()."""
    device = next((each.device for each in numbers if isinstance(each, torch.Tensor)), None)
    if device is None:
        return [float(each) for each in numbers]
    return torch.stack([torch.as_tensor(each, dtype=torch.float64, device=device).reshape(()) for each in numbers])


class Numbers:
    """Named vectors in the order of their adding; numbers and tensors of any shape."""

    def __init__(self) -> None:
        self._layout: list[tuple[str, int]] = []
        self._parts: list[torch.Tensor] = []
        self._plain: list[float] = []  # numbers of Python since the last tensor

    def add(self, name: str, value: Union[Number, Sequence[float]]) -> None:
        if is_tensor(value):
            flat = value.detach().reshape(-1)
            self._flush()
            self._parts.append(flat.to(torch.float64))
            self._layout.append((name, flat.numel()))
        elif isinstance(value, (int, float)):
            self._plain.append(float(value))
            self._layout.append((name, 1))
        else:
            numbers = [float(each) for each in value]
            self._plain += numbers
            self._layout.append((name, len(numbers)))

    def has(self, name: str) -> bool:
        return any(name == each for each, _ in self._layout)

    def extend(self, other: "Numbers") -> None:
        self._flush()
        other._flush()
        self._layout += other._layout
        self._parts += other._parts

    def _flush(self) -> None:
        if self._plain:
            self._parts.append(torch.tensor(self._plain, dtype=torch.float64))
            self._plain = []

    def layout(self) -> str:
        return json.dumps({"layout": self._layout}, separators=(",", ":"))

    def tensor(self) -> torch.Tensor:
        """All of them, as float64, on the device of the tensors among them."""
        self._flush()
        if not self._parts:
            return torch.empty(0, dtype=torch.float64)
        device = next((part.device for part in self._parts if part.device.type != "cpu"), self._parts[0].device)
        return torch.cat([part.to(device, non_blocking=True) for part in self._parts])


def is_measurable(value: Any) -> bool:
    """Is it a tensor whose numbers can be computed with here?"""
    return (
        is_plain_tensor(value)
        and value.layout is torch.strided
        and not value.is_meta
        and not value.is_quantized
        and not value.is_complex()
    )
