"""Recorder: what is captured of the models of one hook. When, is for the session or the watcher to say."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Optional

import torch
from torch.optim import Optimizer

from ..guard import StepAdvice
from . import interception, listeners
from .accumulation import Passes
from .activations import Activations
from .bridge import Bridge
from .collectives import EndOfBackward
from .examination.examiner import Examiner
from .. import faults
from ..faults import guarded
from .identity import ByIdentity
from .logged import Logged
from .losses import Losses
from .module_tree import modules_of
from .operators import OperatorFeed
from .parameters import BufferTable, NameBook, ParameterTable, parameters_in
from .phases import Phases
from .roots import Model
from .signals import Signals
from .start_times import StartTimes
from .watchdog import Part

# Functions of ours that a step passes through besides the calls of modules: zero_grad, the loss, backward, the
# optimizer's step, which is counted.
_QUIET_CALLS = 8
_MAX_UNSEEN = 64
_NOT_CAPTURED = "trainwarden/not_captured"
_COMPILED = "inputs and outputs of the modules inside {}, which torch.compile has compiled; its own are captured"


class Recorder:
    """Captures through one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Any, prefix: str = "", start: Optional[StartTimes] = None) -> None:
        """`start`: of a process whose training begins now."""
        self.hook = hook
        self._start = start
        self._bridge = Bridge(hook)
        self.names = NameBook()
        self._tables: ByIdentity[ParameterTable] = ByIdentity()
        self._buffers: list[BufferTable] = []
        self.activations = Activations(hook, self._bridge, self.note_unseen)
        self.losses = Losses(hook, self._bridge, prefix)
        self._passes = Passes()
        self.logged = Logged(hook)
        self.phases = Phases(hook)
        self._gradients = EndOfBackward(functools.partial(self.phases.begin, "gradient_sync"))
        self.signals = Signals(hook, self._bridge)
        self._operators = OperatorFeed(hook, self.note_unseen)
        self.examiner = Examiner(hook)
        self.signals.is_examined = lambda: self.examiner.is_full
        self.signals.examine_batch = self.examiner.batch_taken
        self.is_idle = False  # nothing of the current step is wanted
        self._is_quiet = False  # the same, or its losses alone are
        self._unseen: list[str] = []  # what the run says that is not captured
        self._unseen_written = 0
        self._mode = ""
        self._steps = 0
        self._billed_ns: Optional[int] = None
        self._spent_ns = 0  # when the last step ended
        self._billed_step = 0
        self._hook_ns = 0
        self._modules = 0  # of all models
        self._closure_judged = False  # gradients of the closure that an optimizer calls were judged

    def add_model(self, model: Model) -> None:
        """Takes a model in, or what is new in it."""
        self.names.add(model.parameters())
        self.activations.add(model)
        self.signals.add_model(model)
        self.examiner.subjects.add_model(model)
        root = model.module
        self._modules += sum(1 for _ in modules_of(root)) if root is not None else 0
        buffers = BufferTable(self.hook, self._bridge)
        buffers.declare(model)
        self._buffers.append(buffers)
        for path in model.compiled_parts():
            self.note_unseen(_COMPILED.format(path))

    def begin_pass(self, model_id: int) -> None:
        """A model is called to train it; the first of a forward pass counts."""
        if self._passes.begin(model_id):
            self.losses.begin_pass(model_id, self._passes.is_repeated)
            self.activations.is_repeated = self._passes.is_repeated

    def begin_micro_batch(self) -> None:
        """Of a pipeline: the backward pass of the one before may be still to come."""
        self.losses.begin_micro_batch()
        self._passes.end_pass()
        self.activations.is_repeated = self._passes.is_repeated

    def end_backward(self) -> None:
        self._operators.follow()  # there may be no room for more, in a step of many passes
        if self.is_idle:
            return
        if self.signals.wanted:
            self.signals.backward_ends()
        self._gradients.end()
        self.phases.end("backward")
        self.losses.end_backward()
        self._passes.end_pass()
        self.activations.is_repeated = self._passes.is_repeated

    def end_passes(self) -> None:
        """An optimizer steps, or the step ends: what belongs to several passes is known."""
        self.losses.flush()
        self._passes.end()
        self.activations.is_repeated = False

    def give_up(self, part: Part, why: str) -> None:
        """What is done for the run takes too much of the training. The run says so, and standard error once."""
        self.note_unseen(f"{why}: {part.value}")
        faults.say_once(f"warning: {why}: {part.value}")
        if part is Part.EXAMINATION:
            self.examiner.give_up(f"{why}: {part.value}")
        elif part is Part.SIGNALS:
            self.signals.is_off = True

    def note_unseen(self, what: str) -> None:
        """The run is to say that this is not captured."""
        if what not in self._unseen and len(self._unseen) < _MAX_UNSEEN:
            self._unseen.append(what)

    def _write_unseen(self) -> None:
        if len(self._unseen) > self._unseen_written:
            self.hook.declare(_NOT_CAPTURED, ["scalars"])  # which are always kept, and whole
            if self.hook.wants(_NOT_CAPTURED):  # else in a step in which something is
                self._unseen_written = len(self._unseen)
                self.hook.save_strings(_NOT_CAPTURED, self._unseen)

    def forget_models(self) -> None:
        """Before all models are taken in again."""
        self._buffers.clear()
        self._modules = 0
        self.signals.forget_models()
        self.examiner.subjects.forget_models()

    def table(self) -> ParameterTable:
        return ParameterTable(self.hook, self._bridge, self.names)

    def save_gradients(self, optimizer: Optimizer) -> None:
        if self._is_quiet or not self.hook.wants_anything():
            return
        table, parameters = self._table_of(optimizer), parameters_in(optimizer)
        table.slots_for(parameters)  # so that the hook knows their names: a pattern may mean one of them
        if self.hook.wants_collection("gradients"):
            table.save_gradients(parameters)

    def judge(self, optimizer: Optimizer) -> StepAdvice:
        """Asks the rules inside the training about a step of the optimizer; its gradients have been saved.

        A step that is vetoed finds no gradients: every optimizer of torch leaves parameters without one alone, and what
        it remembers of them.
        """
        advice: StepAdvice = self.hook.judge()
        if advice is not StepAdvice.PROCEED:
            for parameter in parameters_in(optimizer):
                parameter.grad = None
        return advice

    def end_closure(self, optimizer: Optimizer) -> None:
        """A closure that the optimizer was given has computed gradients: those of its first call in a step are judged."""
        if not self._closure_judged:
            self._closure_judged = True
            self.end_passes()
            self.save_gradients(optimizer)
            self.judge(optimizer)

    def end_closures(self, optimizer: Optimizer) -> None:
        """A step of the optimizer with a closure has ended."""
        if not self._closure_judged:
            self.end_passes()
            self.save_gradients(optimizer)
        self._closure_judged = False

    def save_weights(self, optimizer: Optimizer) -> None:
        """The parameters of the optimizer and what it remembers of them."""
        if self._is_quiet or not self.hook.wants_anything():
            return
        table, parameters = self._table_of(optimizer), parameters_in(optimizer)
        table.save_weights(parameters)
        if self.hook.wants_collection("optimizer_state") or table.has_unnamed_state(optimizer):
            table.save_state(parameters, optimizer)

    def save_buffers(self) -> None:
        if not self._is_quiet and self.hook.wants_collection("buffers"):
            for table in self._buffers:
                table.save()

    def _table_of(self, optimizer: Optimizer) -> ParameterTable:
        table: Optional[ParameterTable] = self._tables.get(optimizer)
        if table is None:
            table = self._tables[optimizer] = self.table()
        return table

    def end_step(self) -> Any:
        """Ends the step of the hook; gives its StepEnd."""
        self.save_rest()
        self._end_phases()
        self.signals.end_step()
        self._end_examination()
        self._bill()
        return self.hook.step()

    def end_cut_short(self) -> None:
        """Ends a step that another mode follows."""
        self.save_rest()
        self._end_phases()
        self.signals.end_step(is_cut_short=True)
        self._end_examination()
        self.hook.step()  # also one of which nothing was wanted

    def end_light_step(self) -> bool:
        """Ends a step of which the examination alone wanted a little. False: there is more to do."""
        light = self.is_idle and self.examiner.is_light and not self.examiner.has_news
        if not light or self.logged.is_holding(self._mode) or not self.hook.end_idle_step():
            return False
        self._end_examination()
        self.examiner.begin_step(self._mode)
        return True

    def _end_examination(self) -> None:
        """Pays from its own allowance, not from the budget: all that this step cost, where nothing else was wanted."""
        if not self.signals.wanted and self.examiner.is_full:
            self.signals.observe_bad_samples()
        spent_ns = listeners.spent_ns() - self._spent_ns
        listeners.leave_out(self.examiner.end_step(spent_ns if self.is_idle else None))
        self._spent_ns = listeners.spent_ns()

    def _end_phases(self) -> None:
        ended = self.phases.end_step(self.hook.mode_step, is_wanted=not self._is_quiet)
        if ended and self._start is not None:
            self.signals.note_start(self._start.first_step_ended())
            self._start = None

    def forgive_saving(self) -> None:
        """A checkpoint that somebody asked for was saved when the step ended: that is not capture."""
        saving_ns = getattr(self.hook, "_saving_ns", 0)
        if saving_ns > 0:
            self.hook._saving_ns = 0
            listeners.leave_out(saving_ns)
            self.phases.saved(saving_ns)

    def end_quiet_step(self) -> bool:
        """Ends a step of which nothing is wanted. False: it has not ended, as there is more to do than to count it."""
        if ungraded := interception.take_ungraded():
            self.examiner.count_ungraded(ungraded)
        if self.examiner.looks or self.examiner.is_due():
            return False
        return not self.logged.is_holding(self._mode) and self.hook.end_idle_step()

    def save_rest(self) -> None:
        """A step ends: saves what has waited for that."""
        self.end_passes()
        self._write_unseen()
        self.logged.save(self._mode)

    @guarded("write what is known of the last step")
    def close(self, has_begun: bool) -> None:
        """Before the hook is closed. `has_begun`: of the step that is open something has happened."""
        if has_begun:
            self.save_rest()
            self._end_phases()
        self.signals.close(has_begun)
        self.examiner.close()
        self.logged.close()
        self._operators.stop()

    def begin_step(self, mode: str) -> None:
        """A new step begins, perhaps in another mode."""
        self._mode = mode
        is_training = mode not in ("eval", "predict")
        self._steps += 1
        self._closure_judged = False
        self.is_idle = not self.hook.wants_anything()
        self._is_quiet = self.is_idle or self.hook.wants_only_losses()
        self.losses.begin_step(self._steps, self.is_idle, is_training)
        self.activations.step = self._steps
        self.activations.ask(self._is_quiet)
        self.signals.begin_step(self._is_quiet)
        self.phases.begin_step(mode, is_training, self._is_quiet)
        self._operators.follow()
        self.examiner.begin_step(mode)

    def begin_backward(self, tensors: Any) -> None:
        """The outermost backward pass."""
        self.examiner.backward_begins(tensors)
        if self.is_idle:
            return
        self.losses.see_root(tensors)
        if self.signals.wanted:
            self.signals.backward_begins()
        self.phases.begin("backward")
        self._gradients.begin(tensors)

    def wants(self) -> listeners.Wants:
        """What is looked at in the current step."""
        activations = self.activations
        return listeners.Wants(
            all_calls=activations.wants_every_call or self.examiner.looks_at_calls,
            calls=activations.wanted_calls,
            activation_functions=activations.functions.wanted,
            signals=self.signals.wanted or self.signals.remembers or self.examiner.is_full,
            backward=self.examiner.looks,
            closures=self.hook.is_guarded,
            modal=self.signals.modal if self.signals.wanted else frozenset(),
            is_idle=self.is_idle and not self.examiner.needs_all,
        )

    def _bill(self) -> None:
        """Tells the hook what our own work cost, without what its calls took and have been counted for already.

        What came before the end of the first step is not on the bill: finding the models is paid once, and no interval
        would make it cheaper. Steps that were only counted cost what passing through our functions costs.
        """
        spent_ns, step = listeners.spent_ns(), self.hook.global_step
        hook_ns = self.hook.report().training_thread_ns
        if self._billed_ns is not None:
            ours_ns = max(0, (spent_ns - self._billed_ns) - (hook_ns - self._hook_ns))
            calls = (step - self._billed_step) * (self._modules + _QUIET_CALLS)
            self.hook.add_cost_ns(ours_ns + round(calls * interception.quiet_call_ns()))
        self._billed_ns, self._hook_ns, self._billed_step = spent_ns, hook_ns, step
