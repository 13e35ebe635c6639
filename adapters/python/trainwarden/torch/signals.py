"""Signals: what a training does besides computing tensors, written with each step that wants them.

Which there are, and what they mean: docs/format/signals.md.
"""

from __future__ import annotations

import json
import math
import time
import weakref
from enum import IntEnum
from typing import Any, Callable, Iterable, Optional

import numpy as np
import torch
from torch.optim import Optimizer

from . import interception, listeners
from .bad_samples import Taken, look
from .bridge import Bridge
from .checkpoints import Checkpoints
from .contents import is_tensor
from .descriptions import Descriptions, describe_loader
from .logged import number_of
from .memory_use import MemoryUse
from .module_tree import is_training, modules_of, parameters_of_module
from .phases import Phases
from .random_states import remember_random_states
from .roots import Model
from .sharding import batch_group
from .signal_sources import Batch
from .stale import StaleGradients
from .throughput import Throughput
from .waits import WAITS

_clock = time.perf_counter
_MAX_CALLS = 256
_MAX_BATCHES = 1 << 12
_MAX_LOADERS = 16
# Batches with bad samples that are told in a run.
_MAX_BAD = 256
# Of parameter groups: some programs have one for each parameter.
_MAX_RATES = 16
_PREFIX = "trainwarden/"
# Whether a parameter is trained is asked once in so many steps.
_LOOK_INTERVAL = 16
# How long the end of the run waits for checkpoints to be read back.
_WAIT_SECONDS = 2.0


class Call(IntEnum):
    """As docs/format/signals.md numbers them."""

    FORWARD = 1
    BACKWARD = 2
    STEP = 3
    ZERO_GRAD = 4
    CLIP = 5
    UNSCALE = 6


class Signals:
    """Of one hook. Belongs to the thread that trains. While `wanted` is false nothing is reported."""

    def __init__(self, hook: Any, bridge: Bridge) -> None:
        self._hook = hook
        self._bridge = bridge
        self.wanted = False
        self.is_off = False  # they cost too much
        self.remembers = False  # the black box wants to know what each step begins with
        self._ids: dict[str, int] = {}  # of the signals that were declared
        self._calls: list[int] = []
        self._numbers: list[tuple[str, float]] = []  # to be written when the step ends: not every one that begins does
        self._start: dict[str, float] = {}  # how long the process took until the first step had ended
        self._loaders: list[str] = []  # descriptions of those that have begun
        self._loaders_written = 0
        self._taken: list[Batch] = []  # since the last forward pass began
        self._batches: list[Batch] = []  # of the step
        self.is_examined: Callable[[], bool] = lambda: False  # in full
        self.examine_batch: Callable[[Any], None] = lambda _: None
        self._bad: list[dict[str, Any]] = []  # what is wrong with batches, as in `_taken`
        self._bad_told = 0
        self._scaled: Optional[int] = None  # id of the optimizer that a gradient scaler is about to let step
        self._stale = StaleGradients()
        # Names of learning rates, by optimizer, its kind and group: another one may get the id of one that is gone.
        self._groups: dict[tuple[int, type, int], str] = {}
        self._optimizers: list[weakref.ref[Optimizer]] = []  # those that have stepped
        self._models: list[Model] = []
        self._trainable = -1
        self._batch_group: Optional[int] = None
        self.modal: frozenset[int] = frozenset()  # ids of the modules whose behaviour depends on the mode
        self._descriptions = Descriptions()
        self._checkpoints = Checkpoints()
        self._memory = MemoryUse()
        self._throughput = Throughput()
        self._steps = 0
        self._ended_at: Optional[float] = None

    # Steps.

    def begin_step(self, is_idle: bool) -> None:
        self.wanted = not is_idle and not self.is_off and self._hook.wants_collection("signals")
        self.remembers = bool(getattr(self._hook, "remembers", False))
        if self.remembers:
            remember_random_states(self._hook)

    def end_step(self, is_cut_short: bool = False) -> None:
        """The last that is saved in a step. One that is cut short ends because another mode begins: gradients that were
        zeroed last were so for what follows."""
        now = _clock()
        before, self._ended_at = self._ended_at, now
        samples, tokens = self._throughput.take()
        if not self.wanted:
            self._batches, self._calls, self._numbers = [], [], []
            WAITS.take_queue()
            return
        if samples > 0:
            self._note("batch/size", samples)
        if before is not None:
            self._save_speed(now - before, samples, tokens)
        if self._batch_group is not None:
            self._note("batch/group", self._batch_group)
        self._save_calls(is_cut_short)
        self._save_batches()
        self._save_modes()
        queue = WAITS.take_queue()
        if queue is not None:
            self._note("loader/ready", queue.ready)
            self._note("loader/outstanding", queue.outstanding)
        for name, number in self._memory.now().items():
            self._note(name, number)
        for name, number in self._start.items():
            self._note(name, number)
        self._start = {}
        self._save_numbers()
        self._describe()
        self._save_loaders()
        self._save_checkpoints()
        self._steps += 1

    def close(self, has_begun: bool) -> None:
        """The run ends: what is still not known of checkpoints belongs to what follows the last step. `has_begun`: the
        step that is open will be written."""
        if has_begun:
            self.end_step()
        if self.wanted:
            self._checkpoints.wait(_WAIT_SECONDS)
            self._save_checkpoints()

    def note_start(self, seconds: dict[str, float]) -> None:
        """Of the process, by name; to be written with the first step that has signals."""
        self._start = seconds

    # Models.

    def add_model(self, model: Model) -> None:
        self._models.append(model)
        root = model.module
        modules: Iterable[torch.nn.Module] = modules_of(root) if root is not None else ()
        self.modal |= {id(module) for module in modules if _depends_on_mode(module)}
        group = batch_group(root) if root is not None else None
        self._batch_group = group if group is not None else self._batch_group
        self._descriptions.models_changed()

    def forget_models(self) -> None:
        self._models.clear()
        self.modal = frozenset()

    # What the program does.

    def _note(self, name: str, number: float) -> None:
        self._numbers.append((name, number))

    def saw(self, call: Call) -> None:
        if len(self._calls) < _MAX_CALLS:
            self._calls.append(call)

    def backward_begins(self) -> None:
        if self._stale.see_backward():
            self.saw(Call.ZERO_GRAD)
        self.saw(Call.BACKWARD)

    def backward_ends(self) -> None:
        self._stale.see_backward_end()

    def gradients_zeroed(self, owner: object) -> None:
        self._stale.see_zeroed(owner)
        self.saw(Call.ZERO_GRAD)

    def gradients_clipped(self, norm: Any, limit: Any) -> None:
        self.saw(Call.CLIP)
        if limit is not None and math.isfinite(limit):  # an infinite one is how programs ask for the norm alone
            self._note("clip/limit", float(limit))
        if is_tensor(norm):
            self._bridge.save(self._id_of("clip/norm"), norm.detach())
        elif (number := number_of(norm)) is not None:
            self._note("clip/norm", number)

    def scaler_steps(self, scaler: Any, optimizer: Any) -> None:
        scale = getattr(scaler, "_scale", None)
        if is_tensor(scale):
            self._bridge.save(self._id_of("amp/scale"), scale)
        # One that is fused leaves its step out by itself, where nobody can see it.
        self._scaled = None if getattr(optimizer, "_step_supports_amp_scaling", False) else id(optimizer)

    def scaler_stepped(self, optimizer: Any) -> None:
        if self._scaled == id(optimizer):
            self._note("amp/skipped", 1.0)
        self._scaled = None

    def save_rates(self, optimizer: Optimizer) -> None:
        """Of an optimizer that has stepped."""
        if not self.wanted:
            return
        for index, group in enumerate(optimizer.param_groups[:_MAX_RATES]):
            self._save_rate(self._rate_of(optimizer, index), group.get("lr"))

    def optimizer_begins(self, optimizer: Optimizer, has_closure: bool) -> None:
        if self._scaled == id(optimizer):
            self._note("amp/skipped", 0.0)
            self._scaled = None
        if not has_closure:
            self._optimizer_uses_gradients(optimizer)

    def optimizer_ends(self, optimizer: Optimizer, has_closure: bool) -> None:
        if has_closure:
            self._optimizer_uses_gradients(optimizer)
        self._stale.remember(optimizer, self._hook.mode_step)

    def _optimizer_uses_gradients(self, optimizer: Optimizer) -> None:
        self.saw(Call.STEP)
        stale = self._stale.see_step(optimizer, self._hook.mode_step)
        if stale is not None:
            self._note("stale_gradients", float(stale))
        if not any(each() is optimizer for each in self._optimizers):
            self._optimizers.append(weakref.ref(optimizer))

    def batch_taken(self, batch: Batch, bad: Optional[dict[str, Any]] = None) -> None:
        """It belongs to the step in which the next forward pass begins: in evaluation that is still to begin. `bad`:
        what is wrong with it."""
        if len(self._taken) < _MAX_BATCHES:
            self._taken.append(batch)
        if bad is not None and self._bad_told < _MAX_BAD:
            self._bad_told += 1
            self._bad.append(bad)

    def look_at(self, batch: Batch, taken: Taken) -> Optional[dict[str, Any]]:
        """What is wrong with a batch, where the step is looked at."""
        in_full = self.is_examined()
        if in_full:
            self.examine_batch(taken.value)
        return look(*batch, taken, in_full) if self.wanted or in_full else None

    def _save_bad_samples(self) -> None:
        """A forward pass begins: they are there when rules judge inside the training, before the optimizer steps."""
        if self._bad and self.wanted:
            bad, self._bad = self._bad, []
            self._save_text("batch/bad_samples", json.dumps({"batches": bad}))

    def observe_bad_samples(self) -> None:
        """The same at the end of a step of which nothing but an examination is written."""
        bad, self._bad = self._bad, []
        if bad and hasattr(self._hook, "observe"):
            self._hook.observe(self._id_of("batch/bad_samples"), [json.dumps({"batches": bad})])

    def loader_started(self, description: str) -> None:
        """It is written once."""
        if description not in self._loaders and len(self._loaders) < _MAX_LOADERS:
            self._loaders.append(description)

    def forward_begins(self, model: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Of an outermost model, by its id."""
        if self._taken:
            if len(self._batches) < _MAX_BATCHES:
                self._batches += self._taken
            self._taken = []
            self._save_bad_samples()
            if self.remembers:
                places = _places_of(self._batches)
                if places is not None:
                    self._hook.remember(_PREFIX + "batch/indices", places)
        if self.wanted:
            self._throughput.see_call(model, args, kwargs)
            if listeners.are_gradients_recorded():
                self.saw(Call.FORWARD)

    def checkpoint_saved(self, what: Any, file: Any, seconds: float) -> None:
        named: list[tuple[str, torch.Tensor]] = []
        for model in self._models:
            whole = [each for each in model.parameters() if each.elements is None]
            named += [(each.name[len(model.prefix) :], each.parameter) for each in whole]
        self._checkpoints.see(what, file, seconds, named)

    # Writing.

    def _id_of(self, name: str) -> int:
        number = self._ids.get(name)
        if number is None:
            number = self._ids[name] = self._hook.declare(_PREFIX + name, ["signals"])
        return number

    def _save_numbers(self) -> None:
        for name, number in self._numbers:
            self._id_of(name)
            self._hook.save_scalar(_PREFIX + name, number)
        self._numbers.clear()

    def _save_speed(self, seconds: float, samples: int, tokens: int) -> None:
        self._note("step_seconds", seconds)
        if samples > 0 and seconds > 0.0:
            self._note("samples_per_second", samples / seconds)
        if tokens > 0 and seconds > 0.0:
            self._note("tokens_per_second", tokens / seconds)

    def _save_text(self, name: str, text: Optional[str]) -> None:
        if text is not None:
            self._id_of(name)
            self._hook.save_strings(_PREFIX + name, [text])

    def _save_rate(self, name: str, rate: Any) -> None:
        tensor_id = self._id_of(name)
        if is_tensor(rate):
            self._bridge.save(tensor_id, rate.detach())
        elif (number := number_of(rate)) is not None:
            self._hook.save_scalar(_PREFIX + name, number)

    def _rate_of(self, optimizer: Optimizer, index: int) -> str:
        key = (id(optimizer), type(optimizer), index)
        name = self._groups.get(key)
        if name is None:
            name = self._groups[key] = f"learning_rate/{len(self._groups)}"
        return name

    def _save_calls(self, is_cut_short: bool) -> None:
        calls, self._calls = self._calls, []
        while is_cut_short and calls and calls[-1] == Call.ZERO_GRAD:
            self._calls.append(calls.pop())
        if calls:
            self._hook.save_tensor(self._id_of("calls"), np.array(calls, np.uint8))

    def _save_batches(self) -> None:
        batches, self._batches = self._batches, []
        if not batches:
            return
        self._note("batch/epoch", batches[-1].epoch)
        self._note("batch/number", batches[-1].number)
        places = _places_of(batches)
        if places is not None:
            self._hook.save_tensor(self._id_of("batch/indices"), places)

    def _save_modes(self) -> None:
        ran = interception.take_modes(self.modal)
        if ran and not self._is_dropout_kept(ran):
            self._note("called_in_train", sum(modes & interception.IN_TRAIN != 0 for modes in ran))
            self._note("called_in_eval", sum(modes & interception.IN_EVAL != 0 for modes in ran))

    def _is_dropout_kept(self, ran: list[int]) -> bool:
        """Whoever evaluates a model and puts all these into training mode again does so on purpose (Monte-Carlo dropout)."""
        roots = [each.module for each in self._models if each.module is not None]
        return all(modes == interception.IN_TRAIN for modes in ran) and bool(roots) and not any(map(is_training, roots))

    def _describe(self) -> None:
        optimizers = [each for each in (reference() for reference in self._optimizers) if each is not None]
        if self._steps % _LOOK_INTERVAL == 0:
            trainable = sum(_count_trainable(model) for model in self._models)
            if trainable != self._trainable:
                self._trainable = trainable
                self._descriptions.models_changed()
        self._save_text("optimizer", self._descriptions.optimizers(optimizers) if optimizers else None)
        model = self._descriptions.model(self._models, optimizers)
        self._save_text("model", model)
        if model is not None or self._steps % _LOOK_INTERVAL == 0:
            self._save_text("shards", self._descriptions.shards(self._models))

    def _save_loaders(self) -> None:
        for description in self._loaders[self._loaders_written :]:
            self._save_text("loader", description)
        self._loaders_written = len(self._loaders)

    def _save_checkpoints(self) -> None:
        for answer in self._checkpoints.answers():
            self._save_text("checkpoint", answer)


def _depends_on_mode(module: torch.nn.Module) -> bool:
    """Does it do something else in training than in evaluation?"""
    if isinstance(module, torch.nn.modules.batchnorm._NormBase):  # batch and instance norm
        return bool(module.track_running_stats)
    if isinstance(module, torch.nn.modules.dropout._DropoutNd):
        return bool(module.p > 0)
    return False


def _count_trainable(model: Model) -> int:
    root = model.module
    return sum(parameter.requires_grad for parameter in parameters_of_module(root)) if root is not None else 0


def _places_of(batches: list[Batch]) -> Optional[Any]:
    """Places in a data set as int64; None when samples are identified by something else, or not at all."""
    indices: list[Any] = []
    for batch in batches:
        indices += batch.indices if isinstance(batch.indices, (list, tuple)) else [batch.indices]
    try:
        places = np.array(indices)
    except ValueError:  # of several shapes
        return None
    if places.ndim != 1 or places.dtype.kind not in "iu":
        return None
    return places.astype(np.int64)


class SignalListener(listeners.Listener):
    """Hands what happens on to the signals and the phases of a hook while they are wanted."""

    def _signals(self) -> Optional[Signals]:
        """None when this thread is not the one that trains."""
        raise NotImplementedError

    def _phases(self) -> Optional[Phases]:
        """The same."""
        raise NotImplementedError

    def phase_begins(self, phase: str) -> None:
        phases = self._phases()
        if phases is not None:
            phases.begin(phase)

    def phase_ends(self, phase: str) -> None:
        phases = self._phases()
        if phases is not None:
            phases.end(phase)

    def loader_started(self, loader: Any) -> None:
        signals = self._signals()
        if signals is not None:
            signals.loader_started(describe_loader(loader))

    def _report(self, call: Callable[[Signals], None]) -> None:
        signals = self._signals()
        if signals is not None and signals.wanted:
            call(signals)

    def gradients_zeroed(self, owner: Any) -> None:
        self._report(lambda signals: signals.gradients_zeroed(owner))

    def gradients_clipped(self, norm: Any, limit: Any, value: Any = None) -> None:
        self._report(lambda signals: signals.gradients_clipped(norm, limit))

    def gradients_unscaled(self) -> None:
        self._report(lambda signals: signals.saw(Call.UNSCALE))

    def scaler_steps(self, scaler: Any, optimizer: Any) -> None:
        self._report(lambda signals: signals.scaler_steps(scaler, optimizer))

    def scaler_stepped(self, optimizer: Any) -> None:
        self._report(lambda signals: signals.scaler_stepped(optimizer))

    def batch_taken(self, batch: Batch, taken: Taken) -> None:
        signals = self._signals()
        if signals is not None:
            signals.batch_taken(batch, signals.look_at(batch, taken))

    def checkpoint_saved(self, what: Any, file: Any, seconds: float) -> None:
        self._report(lambda signals: signals.checkpoint_saved(what, file, seconds))
