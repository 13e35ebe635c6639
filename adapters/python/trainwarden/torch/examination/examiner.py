"""Examiner: looks at a training for its diagnosis, at the first steps one by one and more rarely later on.

A light look takes the loss and what goes through the whole model; a full one takes gradients, updates, layers, batches
and, when it has changed, the structure. What it costs is bounded (allowance.py), whatever is captured besides. It reads
and never writes what the program has; a fault of its own switches it off and is said in the run.
"""

from __future__ import annotations

import functools
import json
import os
import time
import weakref
from typing import Any, Callable, Optional, TypeVar

import torch
from torch.optim import Optimizer

from .. import faults
from ..bridge import Bridge
from ..models import KnownModel
from ..parameters import parameters_in
from ..roots import Model
from ..transforms import depth_of_gradients
from .allowance import Allowance
from .batches import Compared, add_spread, fingerprint, tensors_in
from .graph import graph_of
from .layers import Layers
from .numbers import Numbers, is_measurable
from .structure import caller_place, describe
from .weights import Weights

_PREFIX = "trainwarden/examination/"
_clock = time.perf_counter_ns
# So many looks are written together.
_MAX_LOOKS = 64
# The graph is written of so many full examinations, the second one when the training has settled.
_GRAPH_AT = (0, 20)
_MAX_PLACES = 32
_NONE, _LIGHT, _FULL = 0, 1, 2

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _own(method: _Method) -> _Method:
    """On the examination's own account, and never into the training."""

    @functools.wraps(method)
    def call(self: "Examiner", *args: Any) -> None:
        if not self.is_on:
            return
        begin = _clock()
        self._grad_enabled = torch.is_grad_enabled()
        try:
            with torch.no_grad():
                method(self, *args)
        except Exception as error:
            self.is_on = False
            self.fault = f"the examination for a diagnosis has ended: {type(error).__name__}: {error}"
            faults.report("examine the training for its diagnosis", error)
        finally:
            self._step_ns += _clock() - begin

    return call  # type: ignore[return-value]


class _Evaluation:
    """Of one stretch of steps in another mode than train."""

    def __init__(self, mode: str, after_step: int) -> None:
        self.mode = mode
        self.after_step = after_step
        self.losses: list[torch.Tensor] = []
        self.rights: list[torch.Tensor] = []
        self.calls = 0
        self.batches: Optional[Numbers] = None


class Examiner:
    """Of one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Any, bridge: Bridge) -> None:
        self._hook = hook
        self._bridge = bridge
        self._allowance = Allowance()
        self.is_on = hasattr(hook, "observe") and os.environ.get("TRAINWARDEN_EXAMINE", "1") != "0"
        self.fault: Optional[str] = None
        self._level = _NONE
        self._mode = ""
        self._step = 0  # train steps begun
        self._fulls = 0
        self._models: list[Model] = []
        self._paths: dict[int, str] = {}
        self.list_optimizers: Callable[[], list[Optimizer]] = list  # that exist
        self._known_optimizers: list[weakref.ref[Optimizer]] = []
        self._weights: Optional[Weights] = None
        self._numbers: Optional[Numbers] = None
        self._layers: Optional[Layers] = None
        self._before: Optional[torch.Tensor] = None
        self._structure = ""
        self._layout = ""
        self._layer_names: list[str] = []
        self._places: dict[str, str] = {}
        self._compared: list[dict[str, Any]] = []
        self._written: dict[str, str] = {}
        self._step_ns = 0
        self._looks: list[tuple[int, torch.Tensor]] = []
        self._prints: list[tuple[int, torch.Tensor]] = []
        self._evaluation: Optional[_Evaluation] = None
        self._counts = {name: 0 for name in ("forward", "backward", "step", "zero", "no_grad", "no_grad_training",
                                             "grad_in_eval", "steps_in_eval", "clip", "made")}  # fmt: skip
        self._is_first_compared = True
        self._graphs = 0
        self._grad_enabled = True
        self._ids: dict[str, int] = {}

    # What of a step is looked at.

    def begin_step(self, mode: str) -> None:
        """A step begins, perhaps in another mode."""
        self._mode = mode
        self._level = _NONE
        if mode not in ("eval", "predict"):
            self._step = self._hook.mode_step
        if not self.is_on:
            return
        self._numbers = self._layers = self._before = None
        self._is_first_compared = True
        if mode in ("eval", "predict"):
            if self._evaluation is None:
                self._evaluation = _Evaluation(mode, self._step)
            self._level = _LIGHT if self._allowance.may_look() else _NONE
            return
        if self._allowance.may_examine(self._step):
            self._level = _FULL
            self._numbers, self._layers = Numbers(), Layers()
        elif self._allowance.may_look():
            self._level = _LIGHT

    @property
    def looks(self) -> bool:
        """Is anything of the current step looked at?"""
        return self.is_on and self._level != _NONE

    @property
    def looks_at_calls(self) -> bool:
        """Also at the calls of all modules?"""
        return self.is_on and self._level == _FULL

    # What the program does.

    @_own
    def forward_begins(self, model: Optional[KnownModel], args: Any, kwargs: Any) -> None:
        """An outermost model is called."""
        root = model.module if model is not None else None
        if not self._grad_enabled:
            self._counts["no_grad"] += 1
            if root is not None and root.training and model is not None and model.trained_by:
                self._counts["no_grad_training"] += 1
        elif self._mode not in ("eval", "predict"):
            self._counts["forward"] += 1
            if root is not None and not root.training and model is not None and model.trained_by:
                self._counts["grad_in_eval"] += 1
        if self._level == _NONE or depth_of_gradients() > 0:
            return
        inputs = [each for each in tensors_in((args, kwargs)) if is_measurable(each) and each.numel() > 1]
        if not inputs:
            return
        if self._mode in ("eval", "predict"):
            self._see_evaluated("input", inputs[0])
            return
        if len(self._prints) <= self._step and (not self._prints or self._prints[-1][0] != self._step):
            self._prints.append((self._step, fingerprint(inputs[0])))
        if self._numbers is not None and "input" not in self._seen_names():
            for index, each in enumerate(inputs[:2]):
                add_spread(self._numbers, "input" if index == 0 else f"input{index}", each)
            if inputs[0].dim() == 2 and inputs[0].is_floating_point() and 2 <= inputs[0].shape[1] <= 4096:
                spread = inputs[0].detach().float().std(dim=0, unbiased=False)
                self._numbers.add("input_scales", torch.stack([spread.max(), spread[spread > 0].min() if bool((spread > 0).any()) else spread.max()]))
            self._numbers.add("input_shape", [float(size) for size in inputs[0].shape])

    def _seen_names(self) -> set[str]:
        return {name for name, _ in self._numbers._layout} if self._numbers is not None else set()

    def _see_evaluated(self, what: str, value: torch.Tensor) -> None:
        evaluation = self._evaluation
        if evaluation is None:
            return
        if what == "input":
            evaluation.calls += 1
            if evaluation.batches is None:
                evaluation.batches = Numbers()
                add_spread(evaluation.batches, "eval_input", value)
                evaluation.batches.add("eval_fingerprint", fingerprint(value))

    @_own
    def module_ends(self, module: torch.nn.Module, output: Any) -> None:
        """Any module has given this, in a full examination."""
        if self._layers is not None and not module._modules and depth_of_gradients() == 0:
            path = self._paths.get(id(module))
            if path is not None:
                self._layers.see(path, module, output)

    @_own
    def compared(self, function: str, inputs: Any, output: Any) -> None:
        """A loss function has compared two tensors."""
        if self._level == _NONE or depth_of_gradients() > 0:
            return
        if self._mode in ("eval", "predict"):
            self._see_evaluated_loss(function, inputs, output)
            return
        if self._numbers is None or not self._is_first_compared:
            return
        self._is_first_compared = False
        compared = Compared(function, inputs)
        compared.add(self._numbers, "")
        shapes = compared.shapes()
        value = next((each for each in tensors_in(output)), None)
        if value is not None and value.numel() == 1 and is_measurable(value):
            self._numbers.add("compared_loss", value)
        if "loss" not in self._places:
            self._note_place("loss")
        if shapes not in self._compared and len(self._compared) < 8:
            self._compared.append(shapes)

    def _see_evaluated_loss(self, function: str, inputs: Any, output: Any) -> None:
        evaluation = self._evaluation
        value = next((each for each in tensors_in(output) if is_measurable(each)), None)
        if evaluation is None or value is None or value.numel() != 1 or len(evaluation.losses) >= 4096:
            return
        evaluation.losses.append(value.detach().clone().double())
        compared = Compared(function, inputs)
        if compared.has_classes():
            scores, target = compared.scores()
            evaluation.rights.append((scores.argmax(dim=-1) == target).double().mean())

    @_own
    def backward_begins(self, tensors: Any) -> None:
        self._counts["backward"] += 1
        if self._level == _NONE or self._mode in ("eval", "predict"):
            return
        root = next((each for each in tensors_in(tensors) if each.numel() == 1 and is_measurable(each)), None)
        if root is None:
            return
        self._looks.append((self._step, root.detach().clone().double()))
        self._note_place("backward")
        if self._numbers is not None:
            self._numbers.add("loss", root)
            if self._graphs < len(_GRAPH_AT) and self._fulls >= _GRAPH_AT[self._graphs]:
                self._graphs += 1
                self._write_text("graph", json.dumps(graph_of(root, self._parameter_numbers())))

    @_own
    def gradients_zeroed(self) -> None:
        self._counts["zero"] += 1
        self._note_place("zero_grad")

    @_own
    def gradients_clipped(self, norm: Any, limit: Any) -> None:
        self._counts["clip"] += 1
        if self._numbers is not None and limit is not None and norm is not None:
            self._numbers.add("clip_limit", float(limit))
            self._numbers.add("clip_norm", norm if isinstance(norm, torch.Tensor) else float(norm))
            self._note_place("clip")

    @_own
    def optimizer_made(self) -> None:
        self._counts["made"] += 1
        self._note_place("optimizer")

    @_own
    def optimizer_begins(self, optimizer: Optimizer, has_closure: bool) -> None:
        self._counts["step"] += 1
        if not any(each() is optimizer for each in self._known_optimizers):
            self._known_optimizers.append(weakref.ref(optimizer))
            self._weights = None
        self._note_place("step")
        if self._numbers is None or has_closure:
            if self._weights is not None and self._level != _FULL:
                self._weights.forget()
            return
        weights = self._known_weights()
        if "gradient" not in self._seen_names():
            weights.gradients(self._numbers)
            weights.changes_outside(self._numbers)
            if self._fulls == 0:
                weights.symmetry(self._numbers)
        if self._before is None:
            self._before = weights.before()

    @_own
    def optimizer_ends(self, optimizer: Optimizer, has_closure: bool) -> None:
        if self._numbers is None or has_closure or self._weights is None:
            return
        rates = [float(group["lr"]) for group in optimizer.param_groups[:16] if _is_number(group.get("lr"))]
        if rates and "rate" not in self._seen_names():
            self._numbers.add("rate", rates)

    @_own
    def saw_other_step(self) -> None:
        """An optimizer steps in a step that is not looked at."""
        if self._weights is not None:
            self._weights.forget()

    # Writing.

    def end_step(self, spent_ns: Optional[int]) -> int:
        """The step ends; its examination is written. Gives what is to be paid for it: its own time, or all of
        `spent_ns`, what the step has cost, where it was looked at for the examination alone."""
        is_training = self._mode not in ("eval", "predict")
        if self.is_on and is_training:
            if self._level == _FULL:
                self._write_full()
            elif len(self._looks) >= _MAX_LOOKS or self._evaluation is not None:
                self._write_looks_alone()
        own, self._step_ns = self._step_ns, 0
        spent = own if spent_ns is None or self._level == _NONE else max(own, spent_ns)
        if self._level == _FULL:
            self._allowance.examined(self._step, spent)
            self._fulls += 1
        elif self._level == _LIGHT:
            self._allowance.looked(spent)
        return spent

    @_own
    def _write_looks_alone(self) -> None:
        self._write_looks(Numbers())

    def close(self) -> None:
        """The run ends: what has not been written is."""
        if self.is_on and (self._looks or self._evaluation is not None or self._counts["forward"] > 0):
            self._write_last()

    @_own
    def _write_last(self) -> None:
        numbers = self._numbers or Numbers()
        if not self._written.get("structure"):
            self._write_structure()
        self._write_looks(numbers)

    @_own
    def _write_full(self) -> None:
        numbers = self._numbers
        assert numbers is not None
        if self._layers is not None:
            self._layers.add(numbers)
            self._layer_names = self._layers.names
        if self._weights is not None:
            self._weights.after(numbers, self._before, remember=True)
        self._write_structure()
        self._write_looks(numbers)

    def _write_structure(self) -> None:
        weights = self._known_weights()
        described = describe(self._models, self._optimizers, weights.parameters)
        described["places"] = self._places
        described["layers"] = self._layer_names
        described["compared"] = self._compared
        self._write_text("structure", json.dumps(described))

    def _write_looks(self, numbers: Numbers) -> None:
        self._add_evaluation(numbers)
        looks, self._looks = self._looks, []
        prints, self._prints = self._prints, []
        if looks:
            numbers.add("look_steps", [float(step) for step, _ in looks])
            numbers.add("looks", torch.stack([loss for _, loss in looks]))
        if prints:
            numbers.add("print_steps", [float(step) for step, _ in prints])
            numbers.add("prints", torch.stack([each for _, each in prints]))
        numbers.add("step", float(self._step))
        numbers.add("counts", [float(each) for each in self._counts.values()])
        numbers.add("spent_seconds", self._allowance.spent_ns * 1e-9)
        self._write(numbers)

    def _add_evaluation(self, numbers: Numbers) -> bool:
        """Of what was evaluated before this train step, whole by now."""
        evaluation, self._evaluation = self._evaluation, None
        if evaluation is None or (not evaluation.losses and evaluation.batches is None):
            return False
        if evaluation.batches is not None:
            numbers.extend(evaluation.batches)
        numbers.add("eval_after", float(evaluation.after_step))
        numbers.add("eval_calls", float(evaluation.calls))
        if evaluation.losses:
            numbers.add("eval_loss", torch.stack(evaluation.losses).mean())
            numbers.add("eval_losses", float(len(evaluation.losses)))
        if evaluation.rights:
            numbers.add("eval_accuracy", torch.stack(evaluation.rights).mean())
        return True

    def _write(self, numbers: Numbers) -> None:
        layout = numbers.layout()
        self._write_text("layout", layout)
        tensor = numbers.tensor()
        self._observe("numbers", tensor)

    def _write_text(self, name: str, text: str) -> None:
        if self._written.get(name) != text:
            self._written[name] = text
            self._observe(name, [text])

    def _observe(self, name: str, value: Any) -> None:
        number = self._ids.get(name)
        if number is None:
            number = self._ids[name] = self._hook.declare(_PREFIX + name, ["signals"])
        self._hook.observe(number, value)

    # What is there.

    def forget_models(self) -> None:
        self._models.clear()
        self._paths.clear()
        self._weights = None

    def add_model(self, model: Model) -> None:
        self._models.append(model)
        root = model.module
        if root is not None:
            self._paths.update({id(module): model.prefix + name for name, module in root.named_modules()})

    @property
    def _optimizers(self) -> list[Optimizer]:
        """Those that have stepped, or exist although none has."""
        stepped = [each() for each in self._known_optimizers]
        found = [each for each in stepped if each is not None]
        return found + [each for each in self.list_optimizers() if not any(each is known for known in found)]

    def _known_weights(self) -> Weights:
        if self._weights is None:
            listed: dict[int, torch.Tensor] = {}
            for model in self._models:
                listed.update({id(each.parameter): each.parameter for each in model.parameters()})
            for optimizer in self._optimizers:
                listed.update({id(each): each for each in parameters_in(optimizer)})
            self._weights = Weights(list(listed.values()))
        return self._weights

    def _parameter_numbers(self) -> dict[int, int]:
        return {id(each): number for number, each in enumerate(self._known_weights().parameters)}

    def _note_place(self, what: str) -> None:
        if what not in self._places and len(self._places) < _MAX_PLACES:
            place = caller_place()
            if place is not None:
                self._places[what] = place


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, torch.Tensor) and value.device.type == "cpu")
