"""Examiner: looks at a training for its diagnosis, at the first steps one by one and more rarely later on.

A light look takes the loss and what goes through the whole model; a full one (step_look.py) takes gradients, updates,
layers, batches and, when it has changed, the structure. What it costs is bounded (allowance.py), whatever is captured
besides. It reads and never writes what the program has; a fault of its own switches it off and is said in the run.
"""

from __future__ import annotations

import functools
import os
import time
import weakref
from collections.abc import Mapping
from typing import Any, Callable, Optional, TypeVar

import torch
from torch.optim import Optimizer

from ... import faults
from .. import listeners
from ..contents import is_tensor
from ..logged import number_of
from ..loss_options import LossOptions
from ..models import KnownModel
from ..module_tree import is_training
from ..parameters import parameters_in
from ..transforms import depth_of_gradients
from . import printed, program_calls, saved_hooks, seeds
from .allowance import Allowance
from .batches import Compared, fingerprint, first_tensor, tensors_in
from .description import Description
from .evaluation import Evaluation
from .graph import Graphs
from .jumps import Jumps
from .late_losses import LateLosses
from .module_look import ModuleLook
from .numbers import Numbers, is_measurable
from .passes import Passes
from .rhythm import Rhythm
from .step_look import StepLook
from .subjects import Subjects
from .target_means import TargetMeans
from .weights import Followed
from .writer import Writer

# In the first full examinations the modules are looked at, too, which costs most, and later in each so manieth; of the last
# ones in more.
_FIRST_MODULES, _MODULES_EVERY, _LAST_MODULES_EVERY = 2, 4, 2
_NONE, _LIGHT, _FULL = 0, 1, 2
# What it cannot look at is left out; after so many faults it looks at nothing any more.
_MAX_FAULTS = 20
_MAX_LOGGED = 32  # names of one call of a logger
# Full looks in a row in which an optimizer has not stepped before another one stands for it.
_MAX_UNRATED = 2
# Of light looks each so manieth notes which batch it is.
_PRINTED_EVERY = 4
# Of steps that are only counted each so manieth is asked whether it is time for a look.
_ASKED_EVERY = 4

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _now() -> tuple[int, int]:
    """Time that has passed, and that this thread has had of a processor, in nanoseconds."""
    return time.perf_counter_ns(), time.thread_time_ns()


def _own(method: _Method) -> _Method:
    """On the examination's own account, and never into the training."""

    @functools.wraps(method)
    def call(self: "Examiner", *args: Any) -> None:
        if not self.is_on:
            return
        begin, begin_cpu = _now()
        try:
            with torch.no_grad():
                method(self, *args)
        except Exception as error:
            if faults.is_of_signal_handler(error):
                raise
            self._faults += 1
            self.is_on = self._faults < _MAX_FAULTS
            self.fault = f"the examination for a diagnosis has failed: {type(error).__name__}: {error}"
            if self._faults == 1:
                faults.report("examine the training for its diagnosis", error)
        finally:
            end, end_cpu = _now()
            # Of a processor, or other work on a busy machine would take the looks away. A device is waited for.
            self._step_ns += end - begin if self._allowance.has_device else end_cpu - begin_cpu
            self._step_wall_ns += end - begin

    return call  # type: ignore[return-value]


class Examiner:
    """Of one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook
        self.is_on = hasattr(hook, "observe") and os.environ.get("TRAINWARDEN_EXAMINE") == "1"
        self.fault: Optional[str] = None
        self._faults = 0
        self.subjects = Subjects()
        self._allowance = Allowance()
        self._writer = Writer(hook)
        self._description = Description()
        self._graphs = Graphs()
        self._passes = Passes()
        self._jumps, self._late, self._rhythm = Jumps(), LateLosses(), Rhythm()
        self._target_means = TargetMeans()
        self._training = self._trainings = 0  # of several that the process makes: the current one, and the last one
        self._fulls = 0  # full examinations of it
        # Of the current step:
        self._evaluates = False
        self._step = 0  # train steps begun
        self._first_steps: Optional[tuple[int, int]] = None  # of training and others, where a training was continued
        self._level = _NONE
        self._look: Optional[StepLook] = None  # where it is examined in full
        self._calls = [0, 0]  # backward passes and zero_grad()
        self._has_closure = False  # its optimizer calls one
        self._prints_now = False  # a light look that notes which batch it is
        self._is_interrupted = False  # it is none of the training's, and those after it until that goes on
        self._step_ns = self._step_wall_ns = 0  # that its examination has cost, and how long that took
        self._loads = program_calls.count_of_loads()  # when the last train step began
        # Across steps:
        self._quiet = 0
        self._lights = 0  # light looks at train steps
        if self.is_on:
            printed.send_to(_weakly(self))
        self._rated: Optional[weakref.ref[Optimizer]] = None  # the optimizer whose rates are written
        self._unrated = 0  # full looks in a row at which others have stepped and it has not
        self._followed: Optional[tuple[weakref.ref[Optimizer], Followed]] = None

    # What of a step is looked at.

    def begin_step(self, mode: str) -> None:
        """A step begins, perhaps in another mode."""
        self._evaluates = mode in ("eval", "predict")
        self._level = _NONE
        if not self._evaluates:
            self._step = self._hook.mode_step
        else:
            self._step = self._last_train_step()
        if not self.is_on:
            return
        self._let_go()
        self._look, self._prints_now = None, False
        if self._first_steps is None:
            self._first_steps = self._count_steps()
        self._passes.begin_step()
        self._calls = [0, 0]
        self._has_closure = False
        if self._evaluates:
            self._begin_evaluation()
            return
        self._loads = program_calls.count_of_loads()
        if self._writer.evaluation is not None:
            self._writer.evaluation.end_steps()
        if self._is_interrupted:
            return
        if (asked := self._hook.take_examination()) > 0:
            self._allowance.ask(asked)
        if self._allowance.may_examine(self._step):
            self._level = _FULL
            every = _LAST_MODULES_EVERY if self._allowance.are_last_fulls() else _MODULES_EVERY
            has_modules = self._fulls < _FIRST_MODULES or self._fulls % every == 0
            self._look = StepLook(ModuleLook(self.subjects.paths) if has_modules else None, self._target_means)
        elif self._allowance.may_look(self._step) or self._rhythm.is_around(self._step) or self._writer.has_evaluation:
            self._level = _LIGHT
            self._lights += 1
            self._prints_now = self._lights % _PRINTED_EVERY == 0

    def _begin_evaluation(self) -> None:
        evaluation = self._writer.evaluation
        if evaluation is None or (evaluation.after_step != self._step and not evaluation.has_seen):
            if evaluation is not None:
                evaluation.end_steps()
            evaluation = self._writer.evaluation = Evaluation(self._step, self._loads)
            self._rhythm.evaluation_follows(self._step)
        may_evaluate = self._allowance.may_evaluate(self._step)
        if evaluation.is_of_loaded(program_calls.count_of_loads()):
            self._allowance.evaluate_anew()
            may_evaluate = self._allowance.may_evaluate(self._step)
        self._level = _LIGHT if may_evaluate else _NONE
        if self._level == _LIGHT:
            evaluation.begin_step()

    def is_due(self) -> bool:
        """A step ends that was only counted. Is there time to look at the next one? Asked for some of these steps."""
        if not self.is_on or self._evaluates:
            return False
        rhythm = self._rhythm  # asked in each of these steps
        if rhythm.is_waiting and rhythm.is_around(self._hook.mode_step + 1) and not self._is_interrupted:
            return True
        self._quiet = (self._quiet + 1) % _ASKED_EVERY
        if self._quiet != 0:
            return False
        if self.subjects.stepping.has_settled(self._hook.mode_step + 1):
            return True
        if self._is_interrupted:
            return False
        self._writer.memory.read(self._hook.mode_step)
        if (asked := self._hook.take_examination()) > 0:
            self._allowance.ask(asked)
        return self._allowance.is_due(self._hook.mode_step + 1)

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
        return not self._evaluates and self._writer.is_full

    @property
    def needs_all(self) -> bool:
        """Does it need more of the step than calls of models and backward passes?"""
        return self.is_full or (self.is_light and self._evaluates)

    @property
    def looks_at_calls(self) -> bool:
        """Also at the calls of all modules?"""
        return self._modules is not None and self.is_on

    @property
    def _modules(self) -> Optional[ModuleLook]:
        return self._look.modules if self._look is not None else None

    @property
    def _evaluation(self) -> Optional[Evaluation]:
        """Of the current step, where that is one of evaluation that is looked at."""
        return self._writer.evaluation if self._evaluates and self._level == _LIGHT else None

    # What the program does.

    @_own
    def batch_taken(self, batch: Any) -> None:
        """A data loader has given this."""
        if self._look is not None:
            self._look.drawn(batch)

    def forward_begins(
        self, model: Optional[KnownModel], called: torch.nn.Module, args: Any, kwargs: Any
    ) -> None:
        """An outermost model is called: itself, a wrapper of it, or a part, which has a mode of its own."""
        root = model.module if model is not None and (model.trained_by or model.is_average) else None
        self._passes.forward_begins(called if root is not None else None, self._evaluates, args)
        if self._look is not None or self._evaluation is not None:
            self._look_at_inputs(model, root, args, kwargs, listeners.are_gradients_recorded())
        elif self._evaluates and model is not None and model.is_average and root is not None:
            self._look_at_stranger(root)  # after another model of this evaluation, perhaps, on which all time was spent
        elif self._prints_now and listeners.are_gradients_recorded():
            self._print_input(args, kwargs)

    def quiet_forward_begins(self, args: Any) -> None:
        """A model that is trained is called in training mode, without gradients, in a step that is only counted."""
        self._passes.quiet_begins(self._hook.mode_step, args)

    def count_ungraded(self, calls: int) -> None:
        """There were so many more such calls in the step."""
        self._passes.count_more_in_training(calls)

    def stranger_begins(self, module: torch.nn.Module) -> None:
        """A module is called that no model is known to have, as a copy that holds averages of weights."""
        if self._evaluation is not None:
            self._look_at_stranger(module)

    @_own
    def _look_at_stranger(self, module: torch.nn.Module) -> None:
        if self._writer.evaluation is not None:
            self._writer.evaluation.see_model(module)

    @_own
    def _print_input(self, args: Any, kwargs: Any) -> None:
        self._prints_now = False
        value = next((each for each in tensors_in((args, kwargs)) if is_measurable(each) and each.numel() > 1), None)
        if value is not None and depth_of_gradients() == 0:
            self._writer.add_print(self._step, fingerprint(value), is_light=True)

    @_own
    def _look_at_inputs(
        self,
        known: Optional[KnownModel],
        model: Optional[torch.nn.Module],
        args: Any,
        kwargs: Any,
        wants_gradients: bool,
    ) -> None:
        evaluation, look = self._evaluation, self._look
        inputs: list[torch.Tensor] = []
        if depth_of_gradients() == 0:
            inputs = [each for each in tensors_in((args, kwargs)) if is_measurable(each) and each.numel() > 1]
        if inputs and evaluation is not None:
            evaluation.see_input(inputs)
            if known is not None and known.module is not None:
                evaluation.see_model(known.module)
        if inputs and look is not None and look.see_inputs(model, inputs, wants_gradients):
            self._writer.add_print(self._step, fingerprint(inputs[0]))
        if evaluation is not None and model is not None and not is_training(model):
            evaluation.call_begins(first_tensor(args))
        if look is not None and look.modules is not None:
            look.modules.forward_begins(model, args, kwargs)

    def forward_ends(self, output: Any) -> None:
        """An outermost model has given this."""
        if self._look is not None or self._evaluation is not None:
            self._look_at_output(output)

    @_own
    def _look_at_output(self, output: Any) -> None:
        if self._look is not None:
            self._look.see_output(output)
        if self._evaluation is not None:
            self._evaluation.call_ends(output)
            if self._evaluation.dropout_place is not None:
                self._description.add_place("dropout", self._evaluation.dropout_place)

    @_own
    def module_begins(self, module: torch.nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        """Any module gets this, in a full examination."""
        if self._modules is not None and depth_of_gradients() == 0:
            self._modules.module_begins(module, args, kwargs)

    @_own
    def module_ends(self, module: torch.nn.Module, output: Any) -> None:
        """Any module has given this, in a full examination."""
        if self._modules is not None and depth_of_gradients() == 0:
            self._modules.module_ends(module, output)

    @_own
    def compared(self, function: str, inputs: Any, output: Any, options: LossOptions = LossOptions()) -> None:
        """A loss function has compared two tensors."""
        if depth_of_gradients() > 0:
            return
        if self._evaluation is not None:
            self._evaluation.see_loss(Compared(function, inputs, options), output)
        if self._look is not None:
            self._look.compared(function, inputs, output, options)
            self._description.note_place("loss" if self._look.losses == 1 else "loss1")

    def backward_begins(self, tensors: Any) -> None:
        self._passes.backward += 1
        self._calls[0] += 1
        if self._level == _NONE or self._evaluates:
            return
        root = next(tensors_in(tensors), None)
        if root is None or root.numel() != 1 or not is_measurable(root):
            return
        self._writer.add_loss(self._step, root)
        self._watch_for_jumps(root)
        self._look_at_loss(root)

    def _watch_for_jumps(self, loss: torch.Tensor) -> None:
        if loss.device.type == "cpu":
            known = [float(loss.detach())]
        else:
            self._allowance.use_device()
            known = self._late.exchange(loss)
        for value in known:
            if self._jumps.sees(value):
                self._allowance.look_closer()

    @_own
    def _look_at_loss(self, root: torch.Tensor) -> None:
        if self._look is None:
            return
        self._description.note_place("backward")
        self._look.see_loss(root)
        if self._graphs.is_due(self._fulls) and not saved_hooks.are_used():
            graph = self._graphs.read(root, self.subjects.parameter_numbers(), self._look.input, self._look.given)
            self._writer.write_text("graph", graph)

    @_own
    def gradients_zeroed(self) -> None:
        self._passes.zero += 1
        self._calls[1] += 1
        self._description.note_place("zero_grad")

    @_own
    def gradients_clipped(self, norm: Any, limit: Any, value: Any) -> None:
        self._passes.clip += 1
        if self._look is None:
            return
        if _is_number(value):
            self._look.numbers.add("clip_value", float(value))
            self._description.note_place("clip")
        known = norm if is_tensor(norm) else number_of(norm)
        if limit is not None and known is not None:
            self._look.numbers.add("clip_limit", float(limit))
            self._look.numbers.add("clip_norm", known)
            self._description.note_place("clip")

    @_own
    def optimizer_made(self) -> None:
        self._description.note_place("optimizer")

    def optimizer_begins(self, optimizer: Optimizer, has_closure: bool) -> None:
        self._passes.step += 1
        self._has_closure = self._has_closure or has_closure
        if self.is_on and (training := self.subjects.stepping.steps(optimizer, self._hook.mode_step)) is not None:
            self._begin_training(training)
        self._is_interrupted = self.subjects.stepping.interrupts(optimizer)
        if self._is_interrupted:
            self._drop_look()
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
            self._writer.add_outside(followed[1].have_changed(), followed[1].step == self._rhythm.last)

    @_own
    def _follow(self, optimizer: Optimizer) -> None:
        if self._followed is None or self._followed[1].step < self._step:
            self._followed = weakref.ref(optimizer), Followed(parameters_in(optimizer), self._step)

    def _drop_look(self) -> None:
        """The step is none of the training's."""
        self._let_go()
        self._look, self._level = None, _NONE
        self._writer.drop_loss(self._step)

    def give_up(self, why: str) -> None:
        """Nothing more is looked at."""
        self._drop_look()
        self.is_on, self.fault = False, why
        printed.send_to(None)

    @_own
    def _let_go(self) -> None:
        """Nothing of the program's step is held any longer."""
        if self._look is not None:
            self._look.let_go()

    @_own
    def _begin_training(self, training: int) -> None:
        """Another model is trained by another optimizer: what was seen of the one before says nothing of it. Or one goes
        on, of which more is known than of what has interrupted it."""
        is_new = training > self._trainings
        self._training, self._trainings = training, max(training, self._trainings)
        self._jumps, self._late, self._rhythm = Jumps(), LateLosses(), Rhythm(self._hook.mode_step)
        self._target_means = TargetMeans()
        self.subjects.begin_again()
        self._description.begin_again()
        if is_new:
            self._fulls = self._unrated = 0
            self._rated = None
            self._graphs.begin_again()
            self._allowance.begin_again(self._hook.mode_step + 1)
        if self._look is not None:
            self._look.before = None
        self._writer.begin_again(self._training)

    @_own
    def _look_at_gradients(self, optimizer: Optimizer, has_closure: bool) -> None:
        self.subjects.steps(optimizer)
        self._description.note_place("step")
        look = self._look
        if look is None or has_closure:
            return
        weights = self.subjects.known_weights()
        if not look.numbers.has("gradient"):
            weights.gradients(look.numbers)
            weights.changes_outside(look.numbers, self._step)
            if self._fulls == 0:
                weights.symmetry(look.numbers)
        if look.before is None:
            look.before = weights.before()

    def optimizer_ends(self, optimizer: Optimizer, has_closure: bool) -> None:
        if self._level != _NONE:
            self._follow(optimizer)
        if self._level == _FULL:
            self._look_at_rates(optimizer, has_closure)

    @_own
    def _look_at_rates(self, optimizer: Optimizer, has_closure: bool) -> None:
        if self._look is None or has_closure or self.subjects.weights is None:
            return
        rates = [float(group["lr"]) for group in optimizer.param_groups[:16] if _is_number(group.get("lr"))]
        if rates and not self._look.numbers.has("rate") and self._is_rated(optimizer):
            self._look.numbers.add("rate", rates)

    def _is_rated(self, optimizer: Optimizer) -> bool:
        """Of several optimizers that step in turn the rates of one are a series; of another one when that steps no more."""
        if self._rated is None or self._rated() is None or self._unrated >= _MAX_UNRATED:
            self._rated = weakref.ref(optimizer)
        is_rated = self._rated() is optimizer
        self._unrated = 0 if is_rated else self._unrated + 1
        return is_rated

    @_own
    def logged(self, values: Mapping[str, Any]) -> None:
        """What the program hands to a logger says as much as what it prints."""
        for name, value in list(values.items())[:_MAX_LOGGED]:
            number = number_of(value)
            if number is not None and isinstance(name, str):
                printed.send(f"{name} {number:.8g}")

    def line_printed(self, line: str) -> None:
        """By the program, of what it has evaluated, perhaps."""
        evaluation = self._writer.evaluation
        step = evaluation.after_step if evaluation is not None else self._last_train_step()
        self._writer.printed.add(step, self._evaluates or evaluation is not None, line)

    # Writing.

    def end_step(self, spent_ns: Optional[int]) -> int:
        """The step ends; its examination is written. Gives what is to be paid for it: its own time, or all of
        `spent_ns`, what the step has cost, where it was looked at for the examination alone."""
        if self.is_on and not self._evaluates:
            self._writer.memory.read(self._step)
        if self._level == _FULL:
            self._write_full()
        elif self.is_on and self.has_news:
            self._write_waiting()
        own, own_wall = self._step_ns, self._step_wall_ns
        self._step_ns = self._step_wall_ns = 0
        spent = own if spent_ns is None or self._level == _NONE else max(own, spent_ns)
        # The rest was measured in time alone: of a processor it is supposed to be the same share.
        cost = own + round(max(0, spent - own_wall) * own / own_wall) if spent > own and own_wall > 0 else spent
        if self._level == _FULL:
            self._allowance.examined(self._step, cost)
            self._fulls += 1
        elif self._level == _LIGHT and self._evaluates:
            self._allowance.evaluated(cost)
        elif self._level == _LIGHT:
            self._allowance.looked(cost)
        return spent

    def close(self) -> None:
        """The run ends: what has not been written is."""
        printed.send_to(None)
        self._let_go()
        if not self._writer.is_empty or self._passes.forward > 0:
            self._write_last()

    @_own
    def _write_last(self) -> None:
        if not self._writer.has_written("structure") or self._description.has_news:
            self._write_structure(is_over=True)
        self._write(self._look.numbers if self._look is not None else Numbers())

    @_own
    def _write_waiting(self) -> None:
        self._write(Numbers())

    @_own
    def _write_full(self) -> None:
        look = self._look
        assert look is not None
        numbers = look.numbers
        if taken := seeds.take():
            numbers.add("seeds", [float(len(taken)), float(taken[-1])])
        if not self._has_closure:  # which is called again and again in one step
            numbers.add("calls", [float(each) for each in self._calls])
        if look.modules is not None:
            look.modules.add(numbers)
            self._description.add_modules(look.modules)
        self._description.add_shapes(look.shapes)
        if self.subjects.weights is not None:
            self.subjects.weights.after(numbers, look.before, self._step)
        if self._description.is_due(self._fulls, self.subjects):
            self._write_structure()
        self._write(numbers)

    def _count_steps(self) -> tuple[int, int]:
        """Of training, and all others: the hook's own number, and the one of the current mode."""
        here = self._hook.mode_step
        there = self._hook.global_step - here
        return (there, here) if self._evaluates else (here, there)

    def _last_train_step(self) -> int:
        """The last one that has ended, also where it was only counted."""
        return max(0, self._count_steps()[0] - 1)

    def _steps_ended(self) -> tuple[int, int]:
        """Since the first one."""
        before, now = self._first_steps or (0, 0), self._count_steps()
        return now[0] - before[0], now[1] - before[1]

    def _write_structure(self, is_over: bool = False) -> None:
        self._writer.write_text("structure", self._description.text(self._fulls, self.subjects, is_over))

    def _write(self, numbers: Numbers) -> None:
        numbers.add("step", float(self._step))
        numbers.add("counts", self._passes.numbers(self.subjects.stepping.remade, self._steps_ended()))
        numbers.add("training", float(self._training))
        numbers.add("spent_seconds", self._allowance.spent_ns * 1e-9)
        self._writer.write(numbers)


def _weakly(examiner: Examiner) -> Callable[[str], None]:
    """What streams hold must not keep it, and with it the models, when the training is over."""
    ours = weakref.ref(examiner)

    def see(line: str) -> None:
        if (owner := ours()) is not None:
            owner.line_printed(line)

    return see


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (is_tensor(value) and value.device.type == "cpu")
