"""Weights: parameters, their gradients and updates, from a sample of their elements."""

from __future__ import annotations

import weakref
from typing import Any, Optional

import torch

from ..contents import is_tensor
from .numbers import Numbers, is_measurable

_PER_PARAMETER = 2048
_MAX_PARAMETERS = 384


def _sample(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach()
    flat = flat.view(-1) if flat.is_contiguous() else flat.reshape(-1)
    count = flat.numel()
    return flat if count <= _PER_PARAMETER else flat[:: -(-count // _PER_PARAMETER)]


def _gradient_of(parameter: torch.Tensor) -> torch.Tensor:
    """Zeros where there is none. Of a sparse one its sum over rows stands for it, spread over all elements."""
    gradient = parameter.grad
    if gradient is None:
        return torch.zeros_like(parameter)
    if gradient.layout is torch.sparse_coo:
        size = gradient._values().float().square().sum() / parameter.numel()
        return size.sqrt().expand(parameter.shape)
    return gradient if is_measurable(gradient) else torch.ones_like(parameter)


class Weights:
    """The parameters that are looked at, in the order of the program's structure."""

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        measured = [each for each in parameters if is_measurable(each) and each.numel() > 0][:_MAX_PARAMETERS]
        self._references = [weakref.ref(each) for each in measured]
        self._index: Optional[torch.Tensor] = None
        self._counts: Optional[torch.Tensor] = None
        self._before: Optional[torch.Tensor] = None  # the weights as the last optimizer's step that was seen left them
        self._before_step = -1  # the step that follows that

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Empty once the program has dropped one of them."""
        living = [each() for each in self._references]
        return [each for each in living if each is not None] if all(each is not None for each in living) else []

    def _joined(self, tensors: list[torch.Tensor]) -> torch.Tensor:
        device = self.parameters[0].device
        return torch.cat([_sample(each).to(device=device, dtype=torch.float32) for each in tensors])

    def _per_parameter(self, values: torch.Tensor) -> torch.Tensor:
        if self._index is None or self._index.device != values.device:
            sizes = torch.tensor([_sample(each).numel() for each in self.parameters], device=values.device)
            self._index = torch.repeat_interleave(torch.arange(len(sizes), device=values.device), sizes)
            self._counts = sizes.to(values.dtype)
        sums = torch.zeros(len(self.parameters), dtype=values.dtype, device=values.device)
        return sums.index_add_(0, self._index, values) / self._counts

    def gradients(self, numbers: Numbers) -> None:
        """Right before an optimizer steps. `gradient`: root mean square; -1 where there is none."""
        if not self.parameters:
            return
        parameters = self.parameters
        has = [each.grad is not None for each in parameters]
        joined = self._joined([_gradient_of(each) for each in parameters])
        there = torch.tensor(has, device=joined.device)
        squares = self._per_parameter(joined.square()).sqrt()
        numbers.add("gradient", torch.where(there, squares, torch.full_like(squares, -1.0)))
        numbers.add("gradient_zeros", self._per_parameter((joined == 0).float()))

    def changes_outside(self, numbers: Numbers, step: int) -> None:
        """Before the optimizer steps: what has changed since the last step, if that was seen, element by element."""
        if not self.parameters or self._before is None or self._before_step != step:
            return
        now = self._joined(self.parameters)
        if now.shape != self._before.shape:
            self._before = None
            return
        moved = (now != self._before) & ~(torch.isnan(now) & torch.isnan(self._before))
        numbers.add("changed_outside", self._per_parameter((now - self._before).square()).sqrt())
        numbers.add("changed_share", self._per_parameter(moved.float()))
        # A program that limits its weights leaves those that it changed at the limit.
        edge = torch.where(moved, now.abs(), torch.zeros_like(now))
        numbers.add("changed_edge", torch.stack([edge.max(), torch.where(moved, now.abs(), edge.max()).min()]))
        self._before = None

    def before(self) -> Optional[torch.Tensor]:
        return self._joined(self.parameters) if self.parameters else None

    def after(self, numbers: Numbers, before: Optional[torch.Tensor], step: int) -> None:
        if before is None or not self.parameters:
            return
        now = self._joined(self.parameters)
        if now.shape != before.shape:
            return
        numbers.add("weight", self._per_parameter(before.square()).sqrt())
        numbers.add("update", self._per_parameter((now - before).square()).sqrt())
        numbers.add("update_share", self._per_parameter((now != before).float()))
        self._before, self._before_step = now, step + 1

    def symmetry(self, numbers: Numbers) -> None:
        """`unit_spread`: how far the units of each weight differ at the start, as a share of its root mean square; -1 for
        what has no units."""
        spreads = []
        for parameter in self.parameters:
            if parameter.dim() < 2 or parameter.shape[0] < 2:
                spreads.append(torch.full((), -1.0, device=parameter.device))
                continue
            rows = parameter.detach().reshape(parameter.shape[0], -1)[:64, :256].float()
            size = rows.square().mean().sqrt()
            spreads.append(rows.std(dim=0, unbiased=False).mean() / (size + 1e-12))
        if spreads:
            numbers.add("unit_spread", torch.stack([each.to(spreads[0].device) for each in spreads]))


class Followed:
    """A few elements of the first parameters of an optimizer, from the end of its step to the begin of the next one."""

    def __init__(self, parameters: list[torch.Tensor], step: int) -> None:
        self.step = step
        measured = [each for each in parameters if is_measurable(each) and each.numel() > 0][:: max(1, len(parameters) // 3)]
        self._kept = [(weakref.ref(each), self._few(each).clone()) for each in measured[:3]]

    @staticmethod
    def _few(parameter: torch.Tensor) -> torch.Tensor:
        flat = parameter.detach().reshape(-1)
        return flat[:: max(1, flat.numel() // 16)][:16]

    def have_changed(self) -> torch.Tensor:
        """A number: 1 or 0."""
        changed = [(self._few(now) != kept).any() for now, kept in ((each(), kept) for each, kept in self._kept) if now is not None]
        return torch.stack([each.to(changed[0].device) for each in changed]).any().float() if changed else torch.zeros(())


def settings_of(group: dict[str, Any]) -> dict[str, Any]:
    """What of an optimizer's group is a number or a switch."""
    known: dict[str, Any] = {}
    for key, value in group.items():
        if key == "params":
            continue
        if isinstance(value, (bool, int, float)):
            known[key] = value
        elif isinstance(value, (tuple, list)) and all(isinstance(each, (int, float)) for each in value):
            known[key] = list(value)
        elif is_tensor(value) and value.numel() == 1 and value.device.type == "cpu":
            known[key] = float(value)
    return known
