"""Norms: whether the running statistics of batch norm, which evaluation goes by, are those of the batches of the training."""

from __future__ import annotations

import torch

from ..module_tree import is_training, modules_of
from .batches import tensors_in
from .numbers import Numbers, is_measurable

_MAX_NORMS = 32
_CHANNELS = 64
_SAMPLES = 256


class Norms:
    """Of one step. A layer that is called several times counts by its first call."""

    def __init__(self) -> None:
        self._rows: dict[str, torch.Tensor] = {}

    def see(self, name: str, module: torch.nn.Module, inputs: object) -> None:
        """Before the layer is called, as the call changes its statistics."""
        if not isinstance(module, torch.nn.modules.batchnorm._BatchNorm) or not is_training(module):
            return
        if name in self._rows or len(self._rows) >= _MAX_NORMS or module.running_mean is None:
            return
        value = next((each for each in tensors_in(inputs) if is_measurable(each) and each.dim() >= 2), None)
        if value is not None and module.running_var is not None:
            self._rows[name] = _distance(value, module.running_mean, module.running_var, module.eps)

    def add(self, numbers: Numbers, names: list[str]) -> None:
        """In the order of these layers; NaN for those that are no such norm."""
        if self._rows:
            device = next(iter(self._rows.values())).device
            unknown = torch.full((2,), float("nan"), device=device)
            numbers.add("norms", torch.stack([self._rows.get(name, unknown) for name in names]))


def fresh_norms(module: torch.nn.Module) -> list[float]:
    """How many norms the model has, and of how many the running statistics are as they were made. On a GPU, where looking
    would wait for it, none are known."""
    found = [each for each in modules_of(module) if isinstance(each, torch.nn.modules.batchnorm._BatchNorm)]
    tracking = [each for each in found if each.running_mean is not None and each.running_var is not None]
    if not tracking or tracking[0].running_mean.device.type != "cpu":
        return [0.0, 0.0]
    fresh = sum(bool((each.running_mean == 0).all()) and bool((each.running_var == 1).all()) for each in tracking)
    return [float(len(tracking)), float(fresh)]


def _distance(value: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, eps: float) -> torch.Tensor:
    """How far the mean of the batch is from the running one, in running standard deviations, and the logarithm of the
    variance of the batch over the running one; medians over channels."""
    channels = value.detach()[:, :_CHANNELS].float()
    rows = channels.movedim(1, -1).reshape(-1, channels.shape[1])
    rows = rows[:: max(1, rows.shape[0] // _SAMPLES)]
    batch_variance, batch_mean = torch.var_mean(rows, dim=0, unbiased=False)
    running = variance[:_CHANNELS].float() + eps
    far = (batch_mean - mean[:_CHANNELS].float()).abs() / running.sqrt()
    return torch.stack([far.median(), ((batch_variance + eps) / running).log().median()])
