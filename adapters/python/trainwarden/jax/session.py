"""Session: the run of this process, and where its steps end.

A step ends when an optimizer's new weights are there. Where nobody says that, because the update is written by hand, it
ends with the call that has the gradients and uses them up, else when the next gradients come.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any, Optional

import jax

from .. import faults
from .._opening import open_for_attach
from ..guard import StepAdvice, may_veto
from ..hook import Hook
from ..stopping import StopTraining
from . import tags
from .holding import Held, held, those_left
from .plans import Plan, Slot
from .recorder import Recorder
from .twins import Captured
from .vetoing import STATE, Veto

GRADIENTS, UPDATE = "gradients", "update"
# What no rule can veto.
_FIRST = "the first step of JAX here: which of its results are the new state is seen when it is called again"
_UNKNOWN = "steps of JAX here: its results are not its next arguments, so what is to be given back is not known"
_SEVERAL = "steps of JAX that are several in one call, or whose update is not applied where it is computed"
_APART = "updates that are written by hand, apart from their gradients"


class Session:
    """Captures the trainings of the thread that trains first. Only begin_call(), begin_judging() and begin_event() raise:
    StopTraining.

    Attributes:
        has_optimizer: one that says where steps end.
        may_veto: rules inside the training can keep a step from happening.
        withholds: they have, and the weights of the open step are to stay as they are.
    """

    def __init__(self, run_dir: Optional[str]) -> None:
        self._run_dir = run_dir
        self._hook: Optional[Hook] = None
        self._recorder: Optional[Recorder] = None
        self._thread: Optional[int] = None
        self._open: set[str] = set()  # what the open step has had so far
        self.has_optimizer = False
        self.may_veto = False
        self.withholds = False
        self._own_gradients: Held = []  # kept if no optimizer gets them
        self._late_losses: list[tuple[str, str, Any]] = []  # of the open step, not looked at yet
        self._is_over = False  # nothing of the open step is left but its loss
        self._stop_reason: Optional[str] = None
        self._is_closed = False

    def is_ours(self) -> bool:
        """Does this thread train here? The first that does is the one."""
        return not self._is_closed and self._thread in (None, threading.get_ident())

    @property
    def has_begun(self) -> bool:
        """Was there a training, captured or not?"""
        return self._thread is not None

    @property
    def is_training(self) -> bool:
        return self._recorder is not None

    def begin_call(self, plan: Plan) -> tuple[str, ...]:
        """Before a call that trains. Gives the kinds of tensors that are wanted of it."""
        kinds = self._begin(plan) or ()
        self._raise_if_stopped()
        return kinds

    @faults.guarded("begin a step of JAX")
    def _begin(self, plan: Plan) -> tuple[str, ...]:
        self._end_step_before(plan.differentiates, plan.updates)
        recorder = self._recording("train")
        for primitive, count in plan.missed:
            faults.say_once(f"{count} tensors within {primitive} of a jitted function cannot be captured")
        return () if recorder is None else recorder.wanted_kinds(plan, is_loss_read=self.may_veto)

    def end_call(self, plan: Plan, result: Any, captured: Optional[Captured], veto: Optional[Veto] = None) -> Any:
        """Behind a call that trains: `captured` of a twin, whose plan it has; None: the program's own ran. Gives the
        result, or what is left of it when the step is vetoed."""
        if veto is None or captured is None or not self._can_take_back(veto, result):
            if captured is not None:
                self._say_why_not(plan, veto)
            self._end_call(plan, result, captured)
        else:
            self._record_before(captured, result)
            if self._is_vetoed():
                result = self._taken_back(veto, result)
            self._end_vetoable(captured, result)
        if veto is not None:
            self._end_veto(veto, result)
        return result

    @faults.guarded("find the state of a step of JAX")
    def _can_take_back(self, veto: Veto, result: Any) -> bool:
        return veto.can_take_back(result)

    @faults.guarded("find the state of a step of JAX")
    def _end_veto(self, veto: Veto, result: Any) -> None:
        veto.end(result)

    def _say_why_not(self, plan: Plan, veto: Optional[Veto]) -> None:
        if not self.may_veto or not (plan.updates or plan.is_whole_step):
            return
        reason = _SEVERAL if veto is None else _FIRST if veto.is_first else _UNKNOWN
        faults.say_once(f"rules cannot veto {reason}")

    def _taken_back(self, veto: Veto, result: Any) -> Any:
        try:
            return veto.take_back(result)
        except Exception as error:
            faults.report("take back a step that a rule vetoes", error)
            return result

    @faults.guarded("record a step of JAX")
    def _record_before(self, captured: Captured, result: Any) -> None:
        """What a step computes on its way to new weights."""
        if self._recorder is not None:
            slots = [slot for slot in captured.plan.slots if slot.kind not in STATE]
            self._recorder.record(slots, self._values(captured, result))

    @faults.guarded("record a step of JAX")
    def _end_vetoable(self, captured: Captured, result: Any) -> None:
        """What is left when it was let, or taken back."""
        if self._recorder is not None:
            plan = captured.plan
            slots = [slot for slot in plan.slots if slot.kind in STATE and slot.index < plan.results]
            self._recorder.record(slots, self._values(captured, result))
        self._note(captured.plan)

    def _values(self, captured: Captured, result: Any) -> dict[int, Any]:
        """By the slots' numbers, when they are computed: waiting is no time of ours."""
        values = dict(enumerate(itertools.chain(jax.tree_util.tree_leaves(result), captured.values)))
        jax.block_until_ready([values[slot.index] for slot in captured.plan.slots])
        return values

    @faults.guarded("ask whether a step of JAX may be")
    def _is_vetoed(self) -> bool:
        return self._hook is not None and self._hook.judge() is not StepAdvice.PROCEED

    @faults.guarded("record a step of JAX")
    def _end_call(self, plan: Plan, result: Any, captured: Optional[Captured]) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        if captured is None:
            leaves = jax.tree_util.tree_leaves(result)
            self._late_losses += [(slot.kind, slot.name, leaves[slot.index]) for slot in plan.numbers]
            for _ in range(plan.steps - 1):
                self._step()
            self._note(plan, is_idle=True)
            return
        plan, values = captured.plan, self._values(captured, result)
        once, looped = _by_loop(plan)
        for number in _passes(plan):
            recorder.record(looped, values, number)
            if number == tuple(length - 1 for _, length in plan.loops):
                self._record_once(recorder, once, values, plan)
            else:
                self._step()
        self._note(plan)

    @faults.guarded("put what was computed on the bill")
    def add_cost(self, spent_ns: int) -> None:
        if self._hook is not None:
            self._hook.add_cost_ns(spent_ns)

    def _record_once(self, recorder: Recorder, slots: list[Slot], values: dict[int, Any], plan: Plan) -> None:
        if plan.hands_out_gradients and not plan.updates:
            own = [slot for slot in slots if slot.kind == tags.OWN_GRADIENT]
            self._hold([(slot.name, values[slot.index]) for slot in own])
            slots = [slot for slot in slots if slot.kind != tags.OWN_GRADIENT]
        recorder.record(slots, values)

    def _hold(self, gradients: list[tuple[str, Any]]) -> None:
        is_wanted = self._hook is not None and self._hook.wants_anything()
        named = [(name.removeprefix("gradient/"), value) for name, value in gradients]
        self._own_gradients = held(named, is_wanted)

    def _note(self, plan: Plan, is_idle: bool = False) -> None:
        """What the open step has had now; it ends when that is all. Of a step of which only the loss is kept, that is
        when the next call comes: until then the program is not held up by it."""
        if plan.updates:
            self.has_optimizer = True
            self._own_gradients = []
        if plan.is_whole_step or (plan.applies and self._open):
            if is_idle and self._late_losses:
                self._is_over = True
            else:
                self._end_step()
            return
        if plan.differentiates:
            self._open.add(GRADIENTS)
        if plan.updates:
            self._open.add(UPDATE)

    # Functions that call a model and train nothing.

    def begin_judging(self, plan: Plan) -> Optional[tuple[str, ...]]:
        """Before such a call. Gives the kinds of tensors that are wanted of it; None: it is none of a training's."""
        self._end_what_is_over()
        self._raise_if_stopped()
        return None if self._open else self._begin_judging(plan)

    @faults.guarded("end a step of JAX")
    def _end_what_is_over(self) -> None:
        if self._is_over:
            self._end_step()

    @faults.guarded("begin a step of JAX")
    def _begin_judging(self, plan: Plan) -> Optional[tuple[str, ...]]:
        recorder = self._recording(plan.mode)
        return None if recorder is None else recorder.wanted_kinds(plan)

    @faults.guarded("record what a model was called for")
    def end_judging(self, result: Any, captured: Optional[Captured]) -> None:
        if captured is not None and self._recorder is not None:
            self._recorder.record(captured.plan.slots, self._values(captured, result))
        self._step()

    # Programs, or parts of them, that are not jitted.

    def begin_event(self, differentiates: bool, updates: bool) -> bool:
        """Before gradients or an update outside of jit are recorded. False: there is no run."""
        has_run = bool(self._begin_event(differentiates, updates))
        self._raise_if_stopped()
        return has_run

    @faults.guarded("begin a step of JAX")
    def _begin_event(self, differentiates: bool, updates: bool) -> bool:
        self._end_step_before(differentiates, updates)
        return self._recording("train") is not None

    @faults.guarded("record gradients of JAX")
    def gradients_computed(self, loss: Any, gradients: list[tuple[str, Any]]) -> None:
        if self._recorder is not None:
            self._recorder.keep(tags.LOSS, "loss", loss)
            self._hold(gradients)
            self._open.add(GRADIENTS)

    @faults.guarded("record an update of JAX")
    def updated(self, gradients: list[tuple[str, Any]]) -> None:
        self.has_optimizer = True
        self._own_gradients = []
        self._keep_all(tags.GRADIENT, gradients)
        self._open.add(UPDATE)

    def is_update_vetoed(self) -> bool:
        """Of an update outside of jit, whose gradients were recorded."""
        self.withholds = self.may_veto and bool(self._is_vetoed())
        return self.withholds

    @faults.guarded("record weights of JAX")
    def applied(self, weights: list[tuple[str, Any]]) -> None:
        """Weights that nothing was computed for are none of a training: an average of models, say."""
        if self._open:
            self._keep_all(tags.WEIGHT, weights)
            self._end_step()

    def _keep_all(self, kind: str, tensors: list[tuple[str, Any]]) -> None:
        if self._recorder is None or self._hook is None or not self._hook.wants_anything():
            return
        jax.block_until_ready([value for _, value in tensors])
        for name, value in tensors:
            name = f"gradient/{name}" if kind in (tags.GRADIENT, tags.OWN_GRADIENT) else name
            self._recorder.keep(kind, name, value)

    # Steps.

    def _end_step_before(self, differentiates: bool, updates: bool) -> None:
        """Gradients behind an update, or an update behind another, belong to the next step. So do gradients behind
        others, where no optimizer says when they are used."""
        if self._is_over:
            self._end_step()
        elif UPDATE in self._open and (differentiates or updates):
            self._end_step()
        elif GRADIENTS in self._open and differentiates and not self.has_optimizer:
            self._end_step()

    def _end_step(self) -> None:
        own, self._own_gradients = self._own_gradients, []
        self._keep_all(tags.OWN_GRADIENT, those_left(own))
        if own and self.may_veto:
            faults.say_once(f"rules cannot veto {_APART}")
        self._open = set()
        self._is_over = self.withholds = False
        self._step()

    def _step(self) -> None:
        if self._hook is None:
            return
        if not self._late_losses and self._hook.end_idle_step():
            return
        self._keep_late_losses()
        end = self._hook.step()
        if end.stop_requested:
            self._stop_reason = str(end.stop_reason)

    def _keep_late_losses(self) -> None:
        """On a CPU they are waited for; on other devices the program goes on, and those that are not there are left out."""
        late, self._late_losses = self._late_losses, []
        for kind, name, value in late:
            if self._recorder is not None and (_is_on_cpu(value) or value.is_ready()):
                self._recorder.keep(kind, name, value)

    def _recording(self, mode: str) -> Optional[Recorder]:
        """The run's recorder, which the first step opens."""
        if self._recorder is None and not self._is_closed:
            self._thread = threading.get_ident()
            self._hook = open_for_attach(self._run_dir, ["jax"], **_place())
            if self._hook is None:
                self._is_closed = True
                return None
            self._recorder = Recorder(self._hook)
            self._look_at_rules(self._hook)
        if self._hook is not None and self._hook.current_mode != mode:
            self._hook.set_mode(mode)
        return self._recorder

    def _look_at_rules(self, hook: Hook) -> None:
        self.may_veto = may_veto(hook)
        if self.may_veto and hook.world_size > 1:
            self.may_veto = False  # what each sees is not what all see
            faults.say_once("rules cannot veto a step of a training with several workers")

    def _raise_if_stopped(self) -> None:
        reason, hook = self._stop_reason, self._hook
        if reason is None or hook is None:
            return
        self._stop_reason = None
        faults.say(f"the training was asked to stop: {reason}")
        self.close()
        raise StopTraining(reason)

    @faults.guarded("end the last step of JAX")
    def finish(self) -> None:
        if self._open or self._is_over:
            self._end_step()

    @faults.guarded("close the run of a training of JAX")
    def close(self) -> None:
        self.finish()
        self._is_closed = True
        hook, self._hook, self._recorder = self._hook, None, None
        if hook is not None:
            hook.flush()
            hook.close()


def _place() -> dict[str, Any]:
    """Rank and world size, where several processes train together; else the environment has the word."""
    size = jax.process_count()
    return {"rank": jax.process_index(), "world_size": size} if size > 1 else {}


def _is_on_cpu(value: Any) -> bool:
    return all(device.platform == "cpu" for device in value.devices())


def _passes(plan: Plan) -> Any:
    return itertools.product(*(range(length) for _, length in plan.loops))


def _by_loop(plan: Plan) -> tuple[list[Slot], list[Slot]]:
    """Slots of the call as a whole, and those with an element for each of its steps."""
    depth = len(plan.loops)
    looped = [slot for slot in plan.slots if depth and slot.loops[:depth] == plan.loops]
    once = [slot for slot in plan.slots if slot not in looped]
    return once, looped
