"""Losses: what loss modules and loss functions give, what they get, and the tensors that backward() is called on."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple, Optional

import torch

from . import kinds
from .accumulation import PassLosses, is_divided
from .activations import Series
from .bridge import Bridge
from .contents import attributes_of, is_tensor, tensors_in
from .naming import loss_function_name, loss_name
from .transforms import mean_behind, outside

_INPUT_COLLECTIONS = ("inputs", "predictions", "labels")
_MARK = "trainwarden.loss"
_SAVED = "trainwarden.saved"
_SUM = 2  # torch's number of reduction="sum"
# What a loss goes through between the function that gave it and backward(), without becoming another loss.
_SCALINGS = ("DivBackward", "MulBackward", "ToCopyBackward", "CloneBackward", "AliasBackward", "ViewBackward",
             "SqueezeBackward")  # fmt: skip
_MAX_SCALINGS = 8
# So many losses of torch.func are remembered in a step.
_MAX_TRANSFORMED = 64


def loss_in(output: Any) -> Optional[torch.Tensor]:
    """The tensor `loss` of a dict or dataclass that a model gives back, as those of HuggingFace do."""
    loss = dict.get(output, "loss") if issubclass(type(output), dict) else attributes_of(output).get("loss")
    return loss if is_tensor(loss) else None


def mark_loss(loss: torch.Tensor, name: str) -> None:
    """Notes with the graph that leads to this loss what it is. The note lives as long as the graph.

    Not of a sum: what that is divided by makes a mean of it, which is the loss.
    """
    if loss.grad_fn is not None and getattr(loss.grad_fn, "_saved_reduction", None) != _SUM:
        loss.grad_fn.metadata[_MARK] = (name, loss.detach().clone())  # programs divide losses in place


class FoundLoss(NamedTuple):
    name: str
    loss: torch.Tensor
    adds_up: bool  # over the passes of an accumulation


def loss_behind(root: torch.Tensor) -> FoundLoss:
    """Name and value of the loss that backward() is called on, as evaluation has them: a marked one that was divided by
    the number of accumulated batches, or multiplied by the scale of a gradient scaler, counts as it was before."""
    for node in _scalings_of(root):
        marked = node.metadata.get(_MARK)
        if marked is not None:
            name, loss = marked
            return FoundLoss(name, loss, adds_up=False)
    return FoundLoss(loss_name(root), root, is_divided(root))


def _is_saved(root: torch.Tensor) -> bool:
    """Has a loss module given it, before other backward passes?"""
    return any(_SAVED in node.metadata for node in _scalings_of(root))


def _scalings_of(root: torch.Tensor) -> Iterator[Any]:
    """What made the tensor, and what made that which was only scaled since."""
    node: Any = root.grad_fn
    for _ in range(_MAX_SCALINGS):
        if node is None:
            return
        yield node
        before = [each for each, _ in node.next_functions if each is not None]
        if len(before) != 1 or not type(node).__name__.startswith(_SCALINGS):
            return
        node = before[0]


class Losses:
    """Names and saves losses."""

    def __init__(self, hook: Any, bridge: Bridge, prefix: str = "") -> None:
        self._hook = hook
        self._bridge = bridge
        self._prefix = prefix
        self._outputs: dict[str, Series] = {}
        self._inputs: dict[str, Series] = {}
        self._wants_inputs = False
        # A loss was seen since the last backward pass: what that is called on is the same, or a sum of such.
        self._is_seen = False
        self._function_names: dict[str, str] = {}  # of losses, by the function that gave them
        self._of_function: Optional[weakref.ref[torch.Tensor]] = None  # the last that a function gave and that was saved
        self._transformed: list[FoundLoss] = []  # what torch.func.grad was applied to in this step
        self._is_training = True
        self._in_call: Optional[list[FoundLoss]] = None  # what functions gave in the call of a model that goes on
        self._step = 0
        self._passes = PassLosses(bridge)
        self._is_repeated = False
        self._in_pipeline = False
        self._began_at: dict[int, dict[Series, int]] = {}  # passes of this step, by the model that they began with

    def begin_step(self, step: int, is_idle: bool, is_training: bool) -> None:
        """What follows belongs to the step of this number."""
        self._step = step
        self._began_at.clear()
        self._is_repeated = self._in_pipeline = False
        self._is_training = is_training
        self._transformed.clear()
        self._passes.begin_step(is_training)
        self._is_seen = False
        self._of_function = None
        self._wants_inputs = not is_idle and any(map(self._hook.wants_collection, _INPUT_COLLECTIONS))

    def begin_pass(self, model_id: int, is_repeated: bool) -> None:
        """A pass begins with this model: one that repeats another has its names."""
        self._is_repeated = is_repeated
        if is_repeated:
            self._go_back(model_id)
        else:
            self._began_at[model_id] = {each: each.index_at(self._step) for each in self._all_series()}

    def begin_micro_batch(self) -> None:
        """Of a pipeline: passes forward and backward are not taken in turn."""
        self._in_pipeline = True

    def _all_series(self) -> list[Series]:
        return [*self._outputs.values(), *self._inputs.values()]

    def _go_back(self, model_id: int) -> None:
        before = self._began_at.get(model_id, {})
        for series in self._all_series():
            series.go_back(self._step, min(series.index_at(self._step), before.get(series, 0)))

    def flush(self) -> None:
        """The passes before an optimizer's step have ended."""
        self._save_transformed()
        self._passes.flush()
        self._began_at.clear()
        self._is_repeated = False

    def begin_call(self) -> None:
        """An outermost model is called. Until it gives something, nobody knows whether it gives the loss itself."""
        self._in_call = []

    def see_module(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        """A loss module was called."""
        name = type(module).__name__
        self._save_inputs(name, inputs, kinds.loss_input_kinds(type(module)))
        for tensor in tensors_in(output):
            self._save(FoundLoss(name, tensor, getattr(module, "reduction", None) == "sum"))
            self._is_seen = True
            if tensor.grad_fn is not None:
                tensor.grad_fn.metadata[_SAVED] = True

    def see_function(self, function: str, inputs: Any, output: Any, is_backward_expected: bool) -> None:
        """A function of torch.nn.functional gave this loss.

        Where backward() may follow, it is what that is called on that counts: the function may give only a part of it.
        """
        if not is_tensor(output):
            return
        name = self._function_names.get(function)
        if name is None:
            name = loss_function_name(function, output)
            if output.grad_fn is not None:  # so that a loss has the same name in evaluation, which has no gradients
                self._function_names[function] = name
        self._save_inputs(name, inputs, kinds.LOSS_INPUTS)
        if output.numel() != 1:
            return
        found = FoundLoss(name, output, adds_up=False)
        if is_backward_expected:
            mark_loss(output, name)
        elif self._in_call is not None and output.grad_fn is None:
            self._in_call.append(found._replace(loss=output.detach().clone()))
        else:
            self._save(found)
            self._of_function = weakref.ref(output)

    def see_output(self, output: Any) -> None:
        """A model gave this back; None: it failed."""
        loss = loss_in(output)
        in_call, self._in_call = self._in_call or [], None
        for found in in_call if loss is None else ():
            self._save(found)
        if loss is not None and not self._is_seen:
            self._save(FoundLoss("loss", loss, is_divided(loss)))
            self._is_seen = True

    def see_root(self, value: Any) -> None:
        """backward() begins here, or a loss is about to be scaled for it."""
        self._transformed.clear()  # they were parts of this
        if self._is_seen:
            return
        for tensor in tensors_in(value):
            if tensor.numel() == 1 and not _is_saved(tensor):
                if self._of_function is None or self._of_function() is not tensor:
                    self._save(loss_behind(tensor))
                self._is_seen = True

    def see_transform(self, outputs: Any) -> None:
        """torch.func.grad is applied to these. It is the loss of the step if backward() is not called in it."""
        if self._is_seen or len(self._transformed) >= _MAX_TRANSFORMED:
            return
        for tensor in tensors_in(outputs):
            found = loss_behind(tensor)
            value = mean_behind(found.loss) if tensor.numel() == 1 else None
            if value is not None:
                self._transformed.append(found._replace(loss=value))

    def _save_transformed(self) -> None:
        """One value for each name, as of the passes of an accumulation."""
        found, self._transformed = self._transformed, []
        for name in dict.fromkeys(each.name for each in found if self._is_training and not self._is_seen):
            losses = [each.loss for each in found if each.name == name]
            self._save(FoundLoss(name, torch.stack(losses).mean(), adds_up=False))

    def end_backward(self) -> None:
        self._is_seen = False
        self._passes.end_backward()
        if self._in_pipeline:
            for model_id in self._began_at:
                self._go_back(model_id)

    def _save_inputs(self, name: str, inputs: Any, collections: tuple[str, ...]) -> None:
        stem = f"{name}_input_"
        if self._is_repeated:
            return
        if not self._wants_inputs and stem in self._inputs:  # the first time the hook learns their names
            return
        series = self._series(self._inputs, stem, "inputs")
        for index, tensor in enumerate(tensors_in(inputs)):
            collection = collections[index] if index < len(collections) else None
            self._bridge.save(series.id_at(self._step, collection), tensor)

    def _save(self, found: FoundLoss) -> None:
        series = self._series(self._outputs, f"{found.name}_output_", "losses")
        loss = mean_behind(found.loss) if found.loss.numel() == 1 else found.loss
        with nullcontext() if loss is found.loss else outside():
            if loss is not None:
                self._passes.save(series.id_at(self._step), loss, found.adds_up)

    def _series(self, kind: dict[str, Series], stem: str, collection: str) -> Series:
        series = kind.get(stem)
        if series is None:
            series = kind[stem] = Series(self._hook, self._prefix + stem, [collection])
        return series
