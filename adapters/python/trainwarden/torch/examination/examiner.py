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
from .adversaries import Adversaries
from .allowance import Allowance
from .batches import Compared, add_neighbours, add_order, add_spread, add_symbols, fingerprint, row_prints, telling_input, tensors_in
from .evaluation import Evaluation
from .exchanged import Exchanges
from .fed import Fed
from .graph import graph_of
from .jumps import Jumps
from .layers import Layers
from .masks import Masks
from .norms import Norms
from . import loaded_files, own_losses, program_calls
from .numbers import Numbers, is_measurable
from .optimizers import Optimizers
from .structure import caller_place, describe
from .weights import Followed, Weights

_PREFIX = "trainwarden/examination/"
_clock = time.perf_counter_ns
# So many looks are written together.
_MAX_LOOKS = 64
# The graph is written of so many full examinations, the second one when the training has settled.
_GRAPH_AT = (0, 20)
_MAX_PLACES = 32
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
# In so many full examinations the layers are looked at, too, which costs most; and the structure is described again.
_LAYERS_EVERY = 4
_STRUCTURE_EVERY = 8
# Of the outputs of models in a step so many are kept until its loss is known.
_MAX_OUTPUTS = 8
_MAX_TOKENS = 4
_MAX_INPUTS = 4
_NONE, _LIGHT, _FULL = 0, 1, 2
# What it cannot look at is left out; after so many faults it looks at nothing any more.
_MAX_FAULTS = 20
# Of steps that are only counted each so manieth is asked whether it is time for a look.
_ASKED_EVERY = 4

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _own(method: _Method) -> _Method:
    """On the examination's own account, and never into the training."""

    @functools.wraps(method)
    def call(self: "Examiner", *args: Any) -> None:
        if not self.is_on:
            return
        begin = _clock()
        try:
            with torch.no_grad():
                method(self, *args)
        except Exception as error:
            self._faults += 1
            self.is_on = self._faults < _MAX_FAULTS
            self.fault = f"the examination for a diagnosis has failed: {type(error).__name__}: {error}"
            if self._faults == 1:
                faults.report("examine the training for its diagnosis", error)
        finally:
            self._step_ns += _clock() - begin

    return call  # type: ignore[return-value]


class Examiner:
    """Of one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Any, bridge: Bridge) -> None:
        self._hook = hook
        self._bridge = bridge
        self._allowance = Allowance()
        self.is_on = hasattr(hook, "observe") and os.environ.get("TRAINWARDEN_EXAMINE") == "1"
        self.fault: Optional[str] = None
        self._faults = 0
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
        self._masks = Masks()
        self._norms = Norms()
        self._adversaries = Adversaries()
        self._tokens: list[torch.Tensor] = []  # that embeddings of this step got last
        self._fed = Fed()
        self._exchanges = Exchanges()
        self._exchanged: list[dict[str, Any]] = []  # that were found in any step
        self._before: Optional[torch.Tensor] = None
        self._last_described: dict[str, Any] = {}
        self._layout = ""
        self._layer_names: list[str] = []
        self._places: dict[str, str] = {}
        self._compared: list[dict[str, Any]] = []
        self._written: dict[str, str] = {}
        self._step_ns = 0
        self._quiet = 0
        self._looks: list[tuple[int, torch.Tensor]] = []
        self._jumps = Jumps()
        self._followed: Optional[tuple[weakref.ref[Optimizer], Followed]] = None
        self._outside: list[torch.Tensor] = []  # of steps that were compared: did something else change weights?
        self._calls = [0, 0]  # backward passes and zero_grad() in this step
        self._has_closure = False  # the optimizer of this step calls one
        self._leaves: list[weakref.ref[torch.Tensor]] = []  # tensors in the first graph that are no parameters
        self._prints: list[tuple[int, torch.Tensor]] = []
        self._evaluation: Optional[Evaluation] = None
        self._counts = {name: 0 for name in ("forward", "backward", "step", "zero", "no_grad", "no_grad_training",
                                             "grad_in_eval", "steps_in_eval", "clip", "made",
                                             "no_grad_repeats")}  # fmt: skip
        self._last_input: Optional[weakref.ref[torch.Tensor]] = None  # of a call without gradients in training mode
        self._resumed: Optional[dict[str, Any]] = None  # from what the training goes on
        self._is_first_compared = True
        self._input: Optional[torch.Tensor] = None  # of this step, until its loss is computed
        self._inputs: list[torch.Tensor] = []  # the same, all of them
        self._outputs: list[torch.Tensor] = []  # of models in this step, the same
        self._has_input = False  # what goes into the model was seen in this step
        self._input_model: Optional[torch.nn.Module] = None  # that got it
        self._graphs = 0
        self._optimizers_seen = Optimizers()
        self._described = 0  # parameters that the structure had when it was described last
        self._loaded = 0  # states that were in the structure when it was described last
        self._training = 0  # of several that the process makes one after the other
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
        self._numbers = self._layers = None
        self._before = None
        self._is_first_compared = True
        self._has_input = False
        self._calls = [0, 0]
        self._has_closure = False
        self._input = self._input_model = None
        self._inputs = []
        self._outputs = []
        if mode in ("eval", "predict"):
            self._begin_evaluation()
            return
        if self._evaluation is not None:
            self._evaluation.end_steps()
        if self._allowance.may_examine(self._step):
            self._level = _FULL
            self._numbers = Numbers()
            self._layers = Layers() if self._fulls < 2 or self._fulls % _LAYERS_EVERY == 0 else None
            self._masks, self._exchanges, self._norms = Masks(), Exchanges(), Norms()
            self._adversaries, self._fed, self._tokens = Adversaries(), Fed(), []
        elif self._allowance.may_look():
            self._level = _LIGHT

    def _begin_evaluation(self) -> None:
        if self._evaluation is None:
            self._evaluation = Evaluation(self._step)
        self._level = _LIGHT if self._allowance.may_evaluate(self._step) else _NONE
        if self._level == _LIGHT:
            self._evaluation.begin_step()

    def is_due(self) -> bool:
        """A step ends that was only counted. Is there time to look at the next one? Asked for some of these steps."""
        self._quiet = (self._quiet + 1) % _ASKED_EVERY
        is_asked = self.is_on and self._quiet == 0 and self._mode not in ("eval", "predict")
        return is_asked and self._allowance.is_due(self._hook.mode_step + 1)

    @property
    def looks(self) -> bool:
        """Is anything of the current step looked at?"""
        return self.is_on and self._level != _NONE

    @property
    def is_light(self) -> bool:
        """Is it a light look that the current step gets?"""
        return self.is_on and self._level == _LIGHT

    @property
    def is_full(self) -> bool:
        return self.is_on and self._level == _FULL

    @property
    def has_news(self) -> bool:
        """Is something to be written when the step ends?"""
        is_training = self._mode not in ("eval", "predict")
        return is_training and (len(self._looks) >= _MAX_LOOKS or self._evaluation is not None)

    @property
    def needs_all(self) -> bool:
        """Does it need more of the step than calls of models and backward passes?"""
        return self.is_on and (self._level == _FULL or (self._level == _LIGHT and self._mode in ("eval", "predict")))

    @property
    def looks_at_calls(self) -> bool:
        """Also at the calls of all modules?"""
        return self.is_on and self._layers is not None

    # What the program does.

    def forward_begins(self, model: Optional[KnownModel], args: Any, kwargs: Any) -> None:
        """An outermost model is called."""
        root = model.module if model is not None and model.trained_by else None
        evaluates = self._mode in ("eval", "predict")
        counts = self._counts
        if not torch.is_grad_enabled():
            counts["no_grad"] += 1
            if root is not None and root.training:
                counts["no_grad_training"] += 1
                self._count_repeats(args)
        elif not evaluates:
            counts["forward"] += 1
            self._leave_out_rehearsal(args)
            if root is not None and not root.training:
                counts["grad_in_eval"] += 1
        if self._level == _FULL or (evaluates and self._level == _LIGHT):
            self._look_at_inputs(evaluates, root, args, kwargs)
        if evaluates and self._level == _LIGHT and root is not None and not root.training:
            self._answer_begins(_first_tensor(args))
        if self._layers is not None and not evaluates:
            self._exchanges.gives("the input", (args, kwargs))
            self._adversaries.forward_begins((args, kwargs))

    @_own
    def _answer_begins(self, value: Optional[torch.Tensor]) -> None:
        if self._evaluation is not None:
            self._evaluation.call_begins(value)

    @_own
    def _answer_ends(self, output: Any) -> None:
        if self._evaluation is not None:
            self._evaluation.call_ends(output)
            if self._evaluation.dropout_place is not None:
                self._places.setdefault("dropout", self._evaluation.dropout_place)

    def forward_ends(self, output: Any) -> None:
        """An outermost model has given this."""
        if self._level == _LIGHT and self._mode in ("eval", "predict"):
            self._answer_ends(output)
        if self._level == _FULL and self._mode not in ("eval", "predict"):
            self._outputs += [each for each in tensors_in(output) if each.grad_fn is not None][:_MAX_OUTPUTS]
            self._outputs = self._outputs[-_MAX_OUTPUTS:]
            if self._layers is not None:
                self._adversaries.forward_ends(output)

    def _count_repeats(self, args: Any) -> None:
        """Passes of the same input, as those that are averaged where dropout is kept on purpose."""
        first = _first_tensor(args)
        same = self._last_input() if self._last_input is not None else None
        if first is not None and first is same:
            self._counts["no_grad_repeats"] += 1
        self._last_input = weakref.ref(first) if first is not None else None

    def _leave_out_rehearsal(self, args: Any) -> None:
        """A pass without gradients before one with them, of the same input, is no evaluation: scheduled sampling."""
        first, same = _first_tensor(args), self._last_input() if self._last_input is not None else None
        self._last_input = None
        if first is not None and first is same:
            self._counts["no_grad"] -= 1
            self._counts["no_grad_training"] -= 1

    @_own
    def _look_at_inputs(self, evaluates: bool, model: Optional[torch.nn.Module], args: Any, kwargs: Any) -> None:
        if depth_of_gradients() > 0:
            return
        inputs = [each for each in tensors_in((args, kwargs)) if is_measurable(each) and each.numel() > 1]
        if not inputs:
            return
        if evaluates:
            if self._evaluation is not None:
                self._evaluation.see_input(inputs)
        elif self._numbers is not None and self._has_input and self._is_of_another(model, inputs[0]):
            if "other_input" not in self._seen_names():
                add_spread(self._numbers, "other_input", inputs[0])
        elif self._numbers is not None and not self._has_input:
            self._has_input = True
            self._input_model = model
            self._prints.append((self._step, fingerprint(inputs[0])))
            self._add_inputs(self._numbers, inputs)
            self._input = inputs[0].detach()
            self._inputs = [each.detach() for each in inputs[:_MAX_INPUTS]]

    def _is_of_another(self, model: Optional[torch.nn.Module], value: torch.Tensor) -> bool:
        """Is it for another model, or another part of the same one, than the first input of the step was?"""
        is_wide = value.dim() >= 2 and value.numel() // value.shape[0] >= 4
        is_other = model is not self._input_model or (bool(self._inputs) and value.shape[1:] != self._inputs[0].shape[1:])
        return is_wide and is_other

    def _add_inputs(self, numbers: Numbers, inputs: list[torch.Tensor]) -> None:
        for index, each in enumerate(inputs[:_MAX_INPUTS]):
            add_spread(numbers, "input" if index == 0 else f"input{index}", each)
        numbers.add("float_inputs", [float(each.is_floating_point()) for each in inputs[:_MAX_INPUTS]])
        first = inputs[0]
        if first.dim() == 2 and first.is_floating_point() and 2 <= first.shape[1] <= 4096:
            spread = first.detach()[:256].float().std(dim=0, unbiased=False)
            positive = torch.where(spread > 0, spread, spread.max())
            numbers.add("input_scales", torch.stack([spread.max(), positive.min()]))
        if self._fulls % _LAYERS_EVERY == 0:
            add_neighbours(numbers, first)
            add_order(numbers, first)
        rows = row_prints(telling_input(inputs))
        if rows is not None:
            numbers.add("row_prints", rows)
        numbers.add("input_shape", [float(size) for size in first.shape])
        if first.dtype in (torch.int64, torch.int32):
            add_symbols(numbers, first)

    def _seen_names(self) -> set[str]:
        return {name for name, _ in self._numbers._layout} if self._numbers is not None else set()

    @_own
    def module_begins(self, module: torch.nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        """Any module gets this, in a full examination."""
        path = self._paths.get(id(module))
        if self._layers is not None and path is not None and depth_of_gradients() == 0:
            self._exchanges.takes(path, args)
            self._masks.see(module, args, kwargs)
            self._norms.see(path, module, args)
            if isinstance(module, torch.nn.Embedding) and args:
                self._tokens = [*self._tokens[1 - _MAX_TOKENS :], args[0]]

    @_own
    def module_ends(self, module: torch.nn.Module, output: Any) -> None:
        """Any module has given this, in a full examination."""
        if self._layers is not None and not module._modules and depth_of_gradients() == 0:
            path = self._paths.get(id(module))
            if path is not None:
                self._layers.see(path, module, output)
                self._exchanges.gives(path, output)

    @_own
    def compared(self, function: str, inputs: Any, output: Any, ignore_index: Optional[int] = None) -> None:
        """A loss function has compared two tensors."""
        if self._level == _NONE or depth_of_gradients() > 0:
            return
        if self._mode in ("eval", "predict"):
            if self._evaluation is not None:
                self._evaluation.see_loss(Compared(function, inputs, ignore_index), output)
            return
        if self._numbers is None:
            return
        if self._layers is not None:
            self._adversaries.compared(inputs)
            self._fed.see(Compared(function, inputs, ignore_index), self._tokens)
        if not self._is_first_compared:
            self._look_at_second(Compared(function, inputs, ignore_index))
            return
        value = next((each for each in tensors_in(output)), None)
        self._take_compared(Compared(function, inputs, ignore_index))
        if value is not None and is_measurable(value):
            # Of one number for each element the program makes its loss itself, perhaps of some of them alone.
            self._numbers.add("compared_loss" if value.numel() == 1 else "compared_elements", value.detach().float().mean())
        if "loss" not in self._places:
            self._note_place("loss")

    def _take_compared(self, compared: Compared) -> None:
        assert self._numbers is not None
        self._is_first_compared = False
        compared.add(self._numbers, "")
        if self._input is not None:
            compared.add_relation(self._numbers, self._input)
            compared.add_telling(self._numbers, self._inputs)
            compared.add_padding(self._numbers, self._input)
        shapes = compared.shapes()
        if shapes not in self._compared and len(self._compared) < 8:
            self._compared.append(shapes)

    def _look_at_second(self, compared: Compared) -> None:
        """Of several losses that are added up the first one is the yardstick; of the second one the scale is looked at."""
        if self._numbers is not None and "target1" not in self._seen_names():
            compared.add_scales(self._numbers)

    def backward_begins(self, tensors: Any) -> None:
        self._counts["backward"] += 1
        self._calls[0] += 1
        if self._level == _NONE or self._mode in ("eval", "predict"):
            return
        root = tensors if isinstance(tensors, torch.Tensor) else next(tensors_in(tensors), None)
        if root is None or root.numel() != 1 or not is_measurable(root):
            return
        self._looks.append((self._step, root.detach().clone()))
        if root.device.type == "cpu" and self._jumps.sees(float(root.detach())):  # elsewhere that would wait for the device
            self._allowance.look_closer()
        if self._level == _FULL:
            self._look_at_loss(root)

    @_own
    def _look_at_loss(self, root: torch.Tensor) -> None:
        self._note_place("backward")
        if self._numbers is not None:
            own = own_losses.compared_in(root, self._outputs) if self._is_first_compared else None
            spread = own_losses.broadcast_in(root, self._outputs) if own is None else None
            if spread is not None:
                self._numbers.add("own_broadcast", [float(each) for each in spread])
            self._outputs = []
            if own is not None:
                self._take_compared(own)
            self._numbers.add("loss", root)
            if self._graphs < len(_GRAPH_AT) and self._fulls >= _GRAPH_AT[self._graphs]:
                self._graphs += 1
                known = [each for each in (reference() for reference in self._leaves) if each is not None]
                graph, leaves = graph_of(root, self._parameter_numbers(), known, self._input)
                self._leaves = [weakref.ref(each) for each in leaves]
                self._write_text("graph", json.dumps(graph))

    @_own
    def gradients_zeroed(self) -> None:
        self._counts["zero"] += 1
        self._calls[1] += 1
        self._note_place("zero_grad")

    @_own
    def gradients_clipped(self, norm: Any, limit: Any, value: Any) -> None:
        self._counts["clip"] += 1
        if self._numbers is not None and _is_number(value):
            self._numbers.add("clip_value", float(value))
            self._note_place("clip")
        if self._numbers is not None and limit is not None and norm is not None:
            self._numbers.add("clip_limit", float(limit))
            self._numbers.add("clip_norm", norm if isinstance(norm, torch.Tensor) else float(norm))
            self._note_place("clip")

    @_own
    def optimizer_made(self) -> None:
        self._note_place("optimizer")

    def optimizer_begins(self, optimizer: Optimizer, has_closure: bool) -> None:
        self._counts["step"] += 1
        self._has_closure = self._has_closure or has_closure
        if self.is_on and self._optimizers_seen.steps(optimizer, self._step):
            self._begin_training()
        if self._level != _NONE:
            self._compare_followed(optimizer)
        if self._level == _FULL:
            self._look_at_gradients(optimizer, has_closure)

    @_own
    def _compare_followed(self, optimizer: Optimizer) -> None:
        followed = self._followed
        if followed is None or followed[0]() is not optimizer:
            return
        self._followed = None
        if followed[1].step + 1 == self._step:
            self._outside.append(followed[1].have_changed())

    @_own
    def _follow(self, optimizer: Optimizer) -> None:
        if self._followed is None or self._followed[1].step < self._step:
            self._followed = weakref.ref(optimizer), Followed(parameters_in(optimizer), self._step)

    @_own
    def _begin_training(self) -> None:
        """Another model is trained by another optimizer: what was seen of those before says nothing of it."""
        self._training += 1
        self._fulls = self._graphs = 0
        self._weights = self._evaluation = self._before = None
        self._known_optimizers.clear()
        self._looks, self._prints = [], []
        self._jumps = Jumps()
        self._written.clear()  # who judges from here on has read nothing yet
        self._last_described = {}
        self._allowance.begin_again(self._step + 1)
        self._observe("training", torch.tensor([float(self._training)], dtype=torch.float64))

    @_own
    def _look_at_gradients(self, optimizer: Optimizer, has_closure: bool) -> None:
        if not any(each() is optimizer for each in self._known_optimizers):
            self._known_optimizers.append(weakref.ref(optimizer))
            self._weights = None
        self._note_place("step")
        if self._numbers is None or has_closure:
            return
        weights = self._known_weights()
        if "gradient" not in self._seen_names():
            weights.gradients(self._numbers)
            weights.changes_outside(self._numbers, self._step)
            if self._fulls == 0:
                weights.symmetry(self._numbers)
        if self._before is None:
            self._before = weights.before()

    def optimizer_ends(self, optimizer: Optimizer, has_closure: bool) -> None:
        if self._level != _NONE:
            self._follow(optimizer)
        if self._level == _FULL:
            self._look_at_rates(optimizer, has_closure)

    @_own
    def _look_at_rates(self, optimizer: Optimizer, has_closure: bool) -> None:
        if self._numbers is None or has_closure or self._weights is None:
            return
        rates = [float(group["lr"]) for group in optimizer.param_groups[:16] if _is_number(group.get("lr"))]
        if rates and "rate" not in self._seen_names():
            self._numbers.add("rate", rates)

    # Writing.

    def end_step(self, spent_ns: Optional[int]) -> int:
        """The step ends; its examination is written. Gives what is to be paid for it: its own time, or all of
        `spent_ns`, what the step has cost, where it was looked at for the examination alone."""
        is_training = self._mode not in ("eval", "predict")
        if self.is_on and is_training:
            if self._level == _FULL:
                self._write_full()
            elif self.has_news:
                self._write_looks_alone()
        own, self._step_ns = self._step_ns, 0
        spent = own if spent_ns is None or self._level == _NONE else max(own, spent_ns)
        if self._level == _FULL:
            self._allowance.examined(self._step, spent)
            self._fulls += 1
        elif self._level == _LIGHT and not is_training:
            self._allowance.evaluated(spent)
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
        if not self._written.get("structure") or self._loaded != len(program_calls.loaded):
            self._write_structure()
        self._write_looks(numbers)

    @_own
    def _write_full(self) -> None:
        numbers = self._numbers
        assert numbers is not None
        self._tokens = []
        if seeds := program_calls.take_seeds():
            numbers.add("seeds", [float(len(seeds)), float(seeds[-1])])
        if not self._has_closure:  # which is called again and again in one step
            numbers.add("calls", [float(each) for each in self._calls])
        if self._layers is not None:
            self._layers.add(numbers)
            self._layer_names = self._layers.names
            self._norms.add(numbers, self._layer_names)
            self._masks.add(numbers)
            self._adversaries.add(numbers)
            self._fed.add(numbers)
            self._exchanged = self._exchanged or self._exchanges.found
        if self._weights is not None:
            self._weights.after(numbers, self._before, self._step)
        has_grown = self._weights is not None and len(self._weights.parameters) != self._described
        if self._fulls < 3 or has_grown or self._fulls % _STRUCTURE_EVERY == 0 or self._loaded != len(program_calls.loaded):
            self._write_structure()
        self._write_looks(numbers)

    def _write_structure(self) -> None:
        weights = self._known_weights()
        models = [each for each in self._trained_models if each.module is not None]
        is_dropped = not weights.parameters and bool(self._last_described)  # by the program: what was described stays
        described = self._last_described if is_dropped else describe(models, self._optimizers, weights.parameters)
        self._last_described = described
        self._described = len(described["parameters"])
        described["places"] = self._places
        described["layers"] = self._layer_names
        described["compared"] = self._compared
        if self._fulls == 0:
            self._resumed = loaded_files.describe(self._optimizers)
        if self._resumed is not None:
            described["resumed"] = self._resumed
        if self._exchanged:
            described["exchanged"] = self._exchanged
        self._loaded = len(program_calls.loaded)
        described["loaded"] = [each._asdict() for each in program_calls.loaded]
        self._write_text("structure", json.dumps(described))

    def _write_looks(self, numbers: Numbers) -> None:
        evaluation, self._evaluation = self._evaluation, None
        if evaluation is not None:
            evaluation.add(numbers)  # whole by now
        looks, self._looks = self._looks, []
        prints, self._prints = self._prints, []
        outside, self._outside = self._outside, []
        if outside:
            numbers.add("outside", [torch.stack([each.cpu() for each in outside]).sum().item(), float(len(outside))])
        if looks:
            numbers.add("look_steps", [float(step) for step, _ in looks])
            numbers.add("looks", torch.stack([loss.double().reshape(()) for _, loss in looks]))
        if prints:
            numbers.add("print_steps", [float(step) for step, _ in prints])
            numbers.add("prints", torch.stack([each for _, each in prints]))
        numbers.add("step", float(self._step))
        numbers.add("memory", float(_memory()))
        self._counts["made"] = self._optimizers_seen.remade
        numbers.add("counts", [float(each) for each in self._counts.values()])
        numbers.add("training", float(self._training))
        numbers.add("spent_seconds", self._allowance.spent_ns * 1e-9)
        self._write(numbers)

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
        return found + [
            each
            for each in self.list_optimizers()
            if not any(each is known for known in found) and not self._optimizers_seen.is_past(each)
        ]

    @property
    def _trained_models(self) -> list[Model]:
        """Those of the current training; all when none is known to be trained."""
        if self._training == 0:
            return self._models
        trained = {id(parameter) for optimizer in self._optimizers for parameter in parameters_in(optimizer)}
        found = [model for model in self._models if any(id(each.parameter) in trained for each in model.parameters())]
        return found or self._models

    def _known_weights(self) -> Weights:
        if self._weights is None:
            listed: dict[int, torch.Tensor] = {}
            for model in self._trained_models:
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


def _first_tensor(args: Any) -> Optional[torch.Tensor]:
    return next((each for each in args if isinstance(each, torch.Tensor)), None) if isinstance(args, tuple) else None


def _memory() -> int:
    """Bytes of this process that are in memory; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, torch.Tensor) and value.device.type == "cpu")
