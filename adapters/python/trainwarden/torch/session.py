"""Session: captures a program that knows nothing of Trainwarden, one process of it.

The hook is opened when the first model is called or the first optimizer steps; until then nothing is looked for. From
what happens the session concludes which models there are, in which mode they run, and when a step ends.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Mapping
from typing import Any, Callable, Optional

import torch
from torch.optim import Optimizer

from ..guard import StepAdvice
from ..hook import Hook
from .. import faults
from . import averages, interception, listeners, resuming, trainers, unseen
from .bad_samples import Taken, look
from .cost_watch import CostWatch
from .descriptions import describe_loader
from .hidden_steps import HiddenSteps, has_compiled
from .loss_options import LossOptions, options_of_module
from .models import KnownModel, Models
from .module_tree import is_training
from .opening import close_at_exit, is_data_worker, open_hook
from .own_updates import OwnUpdates
from .phases import Phases
from .quiet_steps import quiet_part
from .recorder import Recorder
from .roots import Model, is_of_keras, is_unfinished
from .running_steps import RunningSteps
from .saving import Training, save_on_request
from .signal_sources import Batch
from .signals import SignalListener, Signals
from .stalls import StallWatch
from .start_times import StartTimes
from ..steps import Cycle
from .training_end import TrainingEnd
from .transforms import depth_of_gradients

# Looking at all living objects takes milliseconds; a program that makes models all the time is not followed for ever.
_MAX_STRANGERS = 64
# So many calls of models, with gradients or without, are told before a backward pass, and of modules in a step that are not
# the same model again and again: a policy that acts, a cell that is called for each place of a sequence.
_MAX_TOLD, _MAX_TOLD_MODULES = 64, 2048
# Batches that are remembered of what came before the first call of a model.
_MAX_EARLY = 4


class Session(SignalListener, Training):
    """Captures what this process trains."""

    def __init__(self, run_dir: Optional[str], leave: Callable[[], None]) -> None:
        """`leave` ends the session for good: nothing can be captured, or nothing shall be any more."""
        self.run_dir = run_dir
        self._leave_process = leave
        self.wants = listeners.Wants(all_calls=True, signals=True)  # until the first model has been found
        self._early: deque[tuple[Batch, Optional[dict[str, Any]]]] = deque(maxlen=_MAX_EARLY)  # taken before that
        self._early_loaders: deque[str] = deque(maxlen=_MAX_EARLY)  # begun before that
        self._start = StartTimes()
        self._opening = threading.Lock()
        self._hook: Optional[Hook] = None
        self._recorder: Optional[Recorder] = None
        self._models = Models()
        self._told_cycle: Cycle[int] = Cycle()
        self._mode = ""
        self._mode_steps: dict[str, int] = {}  # the next of each mode that was left
        self._running = RunningSteps()
        self._passes_inside = 0  # backward passes since the last of them began
        self._depth = 0  # of calls of models within each other
        self._backward_depth = 0
        self._forwards = 0  # in this step
        self._told = [0, 0]  # calls of models without and with gradients since it, or a backward pass in it, began
        self._told_modules = 0  # calls of all modules in it
        self._strangers = 0  # modules for which the models were looked at again
        self._unfinished = 0  # id of a module that is called before its model is whole
        self._has_news = False  # an optimizer was made since the models were looked at
        self._of_keras: Callable[[], Optional[torch.nn.Module]] = lambda: None  # its model that was called last
        self._hidden = HiddenSteps()
        self._own = OwnUpdates()
        self._stalls: Optional[StallWatch] = None
        self._end = TrainingEnd(leave)
        self._costs = CostWatch()

    # What the program does.

    def call_begins(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        recorder = self._recorder or self._open_for(module)
        if recorder is None or not self._is_ours():
            return
        model = self._models.model_of(module)
        if model is not None:
            self._depth += 1
            if self._depth == 1:
                self._count_told(model)
                self._begin_forward(recorder, model, module, args, kwargs)
                recorder.examiner.forward_begins(model, module, args, kwargs)
        elif self._depth == 0:
            recorder.examiner.stranger_begins(module)
        if (recorder.activations.wanted or recorder.examiner.looks_at_calls) and self._sees_activations():
            self._told_modules += 1
            if self._told_modules == _MAX_TOLD_MODULES:
                self._tell_less(self.wants.passing)
            self._look_at_stranger(recorder, module)
            if recorder.examiner.looks_at_calls:
                recorder.examiner.module_begins(module, args, kwargs)
        if recorder.activations.wanted and self._sees_activations():
            recorder.activations.save_inputs(module, args, kwargs)

    def _count_told(self, model: KnownModel) -> None:
        """A model is called, outermost. After some such calls in a row nobody is told of more."""
        with_gradients = listeners.are_gradients_recorded()
        self._told[with_gradients] += 1
        if self._told[with_gradients] == _MAX_TOLD and self.wants.quiet is None and self._mode == "train":
            self._tell_less(listeners.Passing(frozenset(map(id, model.entries)), with_gradients))

    def _tell_less(self, passing: listeners.Passing) -> None:
        """Until the step ends, of these and of the modules in models nothing."""
        self.wants = self.wants._replace(passing=passing, all_calls=False, calls=frozenset())
        interception.update_wants()

    def call_ends(self, module: torch.nn.Module, output: Any) -> None:
        self._end_unfinished(module)
        recorder = self._recorder
        if recorder is None or not self._is_ours():
            return
        if recorder.examiner.looks_at_calls and self._sees_activations():
            recorder.examiner.module_ends(module, output)
        if recorder.activations.wanted and self._sees_activations():
            recorder.activations.save_outputs(module, output)
        if self._models.model_of(module) is not None:
            self._depth = max(0, self._depth - 1)
            if self._depth == 0:
                recorder.examiner.forward_ends(output)
                if not recorder.is_idle:
                    self._end_forward(recorder, output)

    def call_fails(self, module: torch.nn.Module) -> None:
        self._end_unfinished(module)
        recorder = self._recorder
        if recorder is None or not self._is_ours():
            return
        recorder.activations.end_call(module)
        if self._models.model_of(module) is not None:
            self._depth = max(0, self._depth - 1)
            if self._depth == 0 and not recorder.is_idle:
                recorder.phases.end("forward")
                recorder.losses.see_output(None)

    def loss_made(self, module: torch.nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        recorder = self._recorder or self._open_for(None)
        if recorder is not None and self._sees_activations():
            recorder.examiner.compared(type(module).__name__, inputs, output, options_of_module(module))
            if not recorder.is_idle:
                recorder.losses.see_module(module, inputs, output)

    def loss_computed(
        self, function: str, inputs: tuple[Any, ...], output: Any, options: LossOptions = LossOptions()
    ) -> None:
        recorder = self._recorder
        if recorder is not None and self._sees_activations():
            recorder.examiner.compared(function, inputs, output, options)
            if not recorder.is_idle:
                recorder.losses.see_function(function, inputs, output, is_backward_expected=self._mode == "train")

    def gradient_taken(self, outputs: Any) -> None:
        recorder = self._recorder or self._open_for(None)
        if recorder is not None and self._sees_activations() and depth_of_gradients() == 1:
            recorder.losses.see_transform(outputs)

    def micro_batch_begins(self) -> None:
        if self._recorder is not None and self._is_ours() and self._mode == "train":
            self._recorder.begin_micro_batch()

    def activation_begins(self, function: str, caller: Any, value: Any) -> None:
        if self._recorder is not None and self._sees_activations():
            self._recorder.activations.save_function_input(function, caller, value)

    def activation_ends(self, function: str, caller: Any, value: Any) -> None:
        if self._recorder is not None and self._sees_activations():
            self._recorder.activations.save_function_output(function, caller, value)

    def loss_scaled(self, loss: Any) -> None:
        recorder = self._recorder or self._open_for(None)
        if recorder is not None and self._sees_activations():
            recorder.losses.see_root(loss)

    def backward_begins(self, tensors: Any) -> None:
        is_asked = not self._models.any_trained and self._backward_depth == 0 and (self._hook is None or self._is_ours())
        has_own_updates = is_asked and self._own.see_backward(tensors)
        recorder = self._recorder or self._open_for(None) or self._open_for_keras()
        if recorder is None or not self._is_ours():
            return
        if has_own_updates:
            self._begin_own_updates(recorder)
        self._backward_depth += 1
        self._told = [0, 0]
        if self._backward_depth == 1:
            self._end_hidden_step(recorder)
            recorder.begin_backward(tensors)

    def backward_ends(self) -> None:
        recorder = self._recorder
        if recorder is None:
            self._own.see_backward_end()
        if recorder is None or not self._is_ours() or self._backward_depth == 0:
            return
        self._backward_depth -= 1
        if self._backward_depth == 0:
            self._passes_inside += 1
            recorder.end_backward()
            self._see_own_gradients(recorder)
            self._hidden.saw_backward(self._models.optimizers())
            for optimizer in self._hidden.with_whole_gradients():
                recorder.save_gradients(optimizer)

    def logged(self, values: Mapping[str, Any], step: Optional[int]) -> None:
        if self._recorder is not None and self._is_ours():
            self._recorder.logged.hold(values, step, self._mode)
            self._recorder.examiner.logged(values)

    def optimizer_made(self, optimizer: Optimizer) -> None:
        self._has_news = True  # it is not whole yet
        self._models.made(optimizer)
        self._own.forget()
        if self._recorder is not None:
            self._recorder.examiner.optimizer_made()

    def optimizer_begins(self, optimizer: Optimizer, has_closure: bool) -> None:
        self._models.used(optimizer)
        recorder = self._recorder or self._open_for(None)
        if recorder is None or not self._enter(optimizer):
            return
        if not self._cycle.is_in_use(id(optimizer)):
            self._report_all()  # it has a part in what a step is from now on
        self._train_with(recorder, optimizer)
        if self._cycle.ends_before(id(optimizer)):
            self._end_step(recorder)
        self._passes_inside = 0
        recorder.examiner.optimizer_begins(optimizer, has_closure)
        if not recorder.is_idle:
            if recorder.signals.wanted:
                recorder.signals.optimizer_begins(optimizer, has_closure)
            recorder.phases.begin("optimizer")
            if not has_closure:
                recorder.end_passes()
                recorder.save_gradients(optimizer)
        if not has_closure and recorder.judge(optimizer) is StepAdvice.STOP:
            self._end_step(recorder)

    def closure_ends(self, optimizer: Optimizer) -> None:
        recorder = self._recorder
        if recorder is not None and self._is_ours() and self._running.is_only(optimizer):
            recorder.end_closure(optimizer)

    def optimizer_ends(self, optimizer: Optimizer, has_closure: bool) -> None:
        recorder = self._recorder
        if recorder is None or not self._running.leave(optimizer):
            return
        self._hidden.saw_step(optimizer)
        recorder.examiner.optimizer_ends(optimizer, has_closure)
        if not recorder.is_idle:
            recorder.phases.end("optimizer")
            if has_closure:
                recorder.end_closures(optimizer)
            recorder.save_weights(optimizer)
            recorder.signals.save_rates(optimizer)
            if recorder.signals.wanted:
                recorder.signals.optimizer_ends(optimizer, has_closure)
        if self._cycle.ends_after(id(optimizer)):
            self._end_step(recorder)

    # Updates of the program's own.

    def _begin_own_updates(self, recorder: Recorder) -> None:
        """It was seen that the program changes its weights itself: it trains them."""
        optimizer = self._own.optimizer
        if optimizer is not None:
            self._train_with(recorder, optimizer)
            self._passes_inside = 0
            recorder.note_unseen(unseen.OWN_UPDATES)
            self._report_all()

    def _see_own_gradients(self, recorder: Recorder) -> None:
        """A backward pass has ended: the program may change its weights now."""
        optimizer = self._own.optimizer
        if optimizer is None:
            if not self._models.any_trained:
                self._own.see_backward_end()
            return
        if self._passes_inside == 1:
            recorder.examiner.optimizer_begins(optimizer, False)
            if recorder.signals.wanted:
                recorder.signals.optimizer_begins(optimizer, False)
            recorder.save_gradients(optimizer)
        self._own.see_backward_end()

    def _own_steps(self, recorder: Recorder) -> list[Optimizer]:
        optimizer = self._own.optimizer
        if optimizer is None or not self._own.have_stepped():
            return []
        self._passes_inside = 0
        recorder.examiner.optimizer_ends(optimizer, False)
        if recorder.signals.wanted:
            recorder.signals.optimizer_ends(optimizer, False)
        return [optimizer]

    # Opening and closing.

    def _open_for(self, module: Optional[torch.nn.Module], is_trained: bool = False) -> Optional[Recorder]:
        """Opens the hook if the training begins here: a model is called, or an optimizer exists. Calls of a model of
        Keras begin none: its fit() opens a run of its own, and what loops of one's own train goes backward."""
        if is_data_worker():
            self._leave_process()
            return None
        if not self._opening.acquire(blocking=False):
            return None  # another thread begins its training, which is the one that is captured
        try:
            return self._recorder or self._open(module, is_trained)
        finally:
            self._opening.release()

    def _open(self, module: Optional[torch.nn.Module], is_trained: bool) -> Optional[Recorder]:
        if module is not None and (self._unfinished or is_unfinished(module)):
            self._unfinished = self._unfinished or id(module)
            return None
        if module is not None and is_of_keras(module) and not (self._has_news or is_trained):
            self._of_keras = weakref.ref(module)
            return None
        optimizers = self._models.look(module)
        begins = self._models.any_trained if module is None else self._models.adopt(module)
        if not begins:
            return None
        hook = open_hook(self.run_dir)
        if hook is None:
            self._leave_process()
            return None
        self._hook, self._running.thread = hook, threading.get_ident()
        self._stalls = StallWatch(hook)
        self._stalls.start()
        resuming.follow(self._position)
        close_at_exit(self)
        try:
            self._start.opened()
            return self._begin(Recorder(hook, start=self._start), module, optimizers)
        except Exception as error:
            if faults.is_of_signal_handler(error):
                self._give_back(hook)  # the program goes on, and perhaps trains again
            else:
                self._leave_process()
            raise

    def _give_back(self, hook: Hook) -> None:
        """Opening did not come to its end: the next call of a model begins anew."""
        self._hook = self._recorder = None
        if self._stalls is not None:
            self._stalls.stop()
        hook.close()

    def _open_for_keras(self) -> Optional[Recorder]:
        model = self._of_keras()
        return None if model is None else self._open_for(model, is_trained=True)

    def _position(self) -> Optional[resuming.Position]:
        """Where the training is; of this mode the hook knows it, of the others it was noted when they were left."""
        if self._hook is None:
            return None
        mode_steps = {**self._mode_steps, self._mode: self._hook.mode_step}
        return resuming.Position(self._hook.global_step, mode_steps)

    def _end_unfinished(self, module: torch.nn.Module) -> None:
        if self._unfinished == id(module):
            self._unfinished = 0

    def _begin(self, recorder: Recorder, module: Optional[torch.nn.Module], optimizers: list[Optimizer]) -> Recorder:
        self._recorder = recorder
        save_on_request(recorder.hook, self)
        recorder.names.look_again = self._look_again
        recorder.examiner.subjects.list_optimizers = self._models.optimizers
        model = self._models.model_of(module) if module is not None else None
        self._set_mode(recorder, (self._mode_of(model) if model is not None else None) or "train")
        self._take_in(recorder, optimizers)
        self._begin_step(recorder)
        while self._early:
            recorder.signals.batch_taken(*self._early.popleft())
        while self._early_loaders:
            recorder.signals.loader_started(self._early_loaders.popleft())
        return recorder

    def close(self) -> None:
        """Ends the step that is open and the run."""
        hook, recorder, self._hook, self._recorder = self._hook, self._recorder, None, None
        if recorder is not None:
            has_begun = self._save_hidden_step(recorder) or self._forwards > 0
            recorder.close(has_begun)
        if hook is not None:
            if self._stalls is not None:
                self._stalls.stop()
            hook.close()
        self._own.forget()

    # Models.

    def _look_again(self) -> None:
        """Something turned up that is not known yet."""
        self._has_news = False
        if self._recorder is not None:
            self._take_in(self._recorder, self._models.look())

    def _look_at_stranger(self, recorder: Recorder, module: torch.nn.Module) -> None:
        """A module with parameters that is not known: a model has grown, or there is a new one."""
        if not recorder.activations.knows(module) and module._parameters and self._strangers < _MAX_STRANGERS:
            self._strangers += 1
            self._look_again()

    def _take_in(self, recorder: Recorder, new_optimizers: list[Optimizer]) -> None:
        recorder.forget_models()
        for model in self._models:
            recorder.add_model(model)
        for optimizer in new_optimizers:
            self._expect(optimizer)

    def _begin_step(self, recorder: Recorder) -> None:
        """A step begins, perhaps in another mode: what of it is wanted?"""
        recorder.begin_step(self._mode)
        self._forwards = self._told_modules = 0
        self._told = [0, 0]
        interception.take_quiet_begin()
        compiled = self._mode == "train" and has_compiled() and self._hidden.suspects(self.optimizers_to_save())
        suspects = compiled or self._own.optimizer is not None
        stepping = self._cycle.order() if self._mode == "train" else None
        counts = listeners.Quiet(self._end_quiet_step, self._running.thread)
        odd = suspects or self._running.nest
        quiet = None if odd else quiet_part(counts, recorder, list(self._models), stepping)
        asked = recorder.wants()
        backward = asked.backward or suspects or not self._models.any_trained
        wants = asked._replace(quiet=quiet, backward=backward, batches=self._cycle.has_several())
        if wants != self.wants:
            self.wants = wants
            interception.update_wants()

    def _end_quiet_step(self) -> bool:
        recorder = self._recorder
        if recorder is None or not recorder.end_quiet_step():
            return False
        if self._mode == "train":  # in evaluation the call that ends a step begins the next one
            self._forwards = 0
        return True

    @property
    def _cycle(self) -> Cycle[int]:
        """With those that have stepped quietly since the last step ended."""
        order = self.wants.quiet.optimizers if self.wants.quiet is not None else ()
        if len(order) > 1:
            for optimizer_id in order[: interception.take_passed()]:
                self._told_cycle.ends_after(optimizer_id)
        return self._told_cycle

    def _may_count(self) -> bool:
        """Several optimizers step: is their order known by now, so that their steps may be counted only?"""
        quiet = self.wants.quiet
        return quiet is not None and self._mode == "train" and not quiet.optimizers and bool(self._cycle.order())

    def _report_all(self) -> None:
        """Until the step ends nothing in it is only counted."""
        if self.wants.quiet is not None:
            self.wants = self.wants._replace(quiet=None, backward=True)
            interception.update_wants()

    def _expect(self, optimizer: Optimizer) -> None:
        self._cycle.expect(id(optimizer))
        self._report_all()
        weakref.finalize(optimizer, self._forget, id(optimizer)).atexit = False

    def _forget(self, optimizer_id: int) -> None:
        """The optimizer is gone: another one may get its id."""
        self._cycle.forget(optimizer_id)
        self._report_all()

    # Forward passes and modes.

    def _begin_forward(
        self, recorder: Recorder, model: KnownModel, called: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        if self._has_news and not self._models.any_trained:
            self._look_again()  # the model was only asked until now
        self._end_hidden_step(recorder)
        if not self._is_counted(called):
            self._report_all()
        mode = self._mode_of(model)
        if mode is not None:
            if mode != self._mode:
                self._set_mode(recorder, mode)
            elif mode != "train" and self._forwards > 0:
                self._end_step(recorder)
            self._forwards += 1
        if not recorder.is_idle:
            # A closure may be called several times, for a step each: its first pass alone may be one of an accumulation.
            if self._mode == "train" and not (self._running and self._passes_inside > 0):
                recorder.begin_pass(id(model))
            recorder.losses.begin_call()
            recorder.signals.forward_begins(id(model), args, kwargs)
            recorder.phases.begin("forward")

    def _is_counted(self, called: torch.nn.Module) -> bool:
        """Is it one whose calls are counted, of which one is told now and then in a step that goes on for long?"""
        return self.wants.quiet is not None and id(called) in self.wants.quiet.in_train and is_training(called)

    def _end_forward(self, recorder: Recorder, output: Any) -> None:
        recorder.phases.end("forward")
        recorder.losses.see_output(output)

    def _mode_of(self, model: KnownModel) -> Optional[str]:
        """The mode that the call of this model means; None when it means none, as that of a teacher."""
        if not self._models.any_trained:
            return "predict"
        root = model.module
        if root is None:
            return None
        if not model.trained_by:
            return "eval" if averages.begins_evaluation(model, self._models, self._train_steps()) else None
        if is_training(root) or (model.trains_in_eval and listeners.are_gradients_recorded()):
            return "train"
        others = (other for other in self._models if other is not model and self._is_training(other))
        if any(others):
            return None
        return "predict" if self._is_trial_run() else "eval"

    def _train_steps(self) -> int:
        """That have ended."""
        hook = self._hook if self._mode == "train" else None
        return hook.mode_step if hook is not None else self._mode_steps.get("train", 0)

    @faults.guarded("ask a trainer what it does")
    def _is_trial_run(self) -> bool:
        """Trainers that try their evaluation do so before any optimizer has stepped."""
        return not self._cycle.has_begun() and trainers.is_trial_run()

    def _is_training(self, model: KnownModel) -> bool:
        root = model.module
        return root is not None and is_training(root) and any(map(self._cycle.is_in_use, model.trained_by))

    def _set_mode(self, recorder: Recorder, mode: str) -> None:
        if self._forwards > 0 or interception.take_quiet_begin():
            recorder.end_cut_short()
        if self._mode:
            recorder.phases.leave_mode(recorder.hook.mode_step)
            self._mode_steps[self._mode] = recorder.hook.mode_step
        recorder.hook.set_mode(mode)
        self._mode = mode
        self._cycle.abandon()
        self._begin_step(recorder)

    # Steps.

    def _train_with(self, recorder: Recorder, optimizer: Optimizer) -> None:
        """An optimizer steps, so this is training, whatever the models look like."""
        if not self._models.knows(optimizer):
            self._look_again()
        if self._mode != "train":
            self._models.note_training_in_eval(optimizer)
            self._set_mode(recorder, "train")

    def _end_hidden_step(self, recorder: Recorder) -> None:
        """Something begins. Has an optimizer stepped before that, unseen? Then the step has ended."""
        if self._save_hidden_step(recorder):
            self._end_step(recorder)

    @faults.guarded("capture a step that torch.compile has compiled")
    def _save_hidden_step(self, recorder: Recorder) -> bool:
        """Has an optimizer stepped unseen?"""
        if self._running:  # closures change parameters between the backward passes of one step
            return False
        hidden = self._hidden.taken()
        for optimizer in hidden:
            recorder.note_unseen(unseen.HIDDEN_STEPS.format(type(optimizer).__name__))
        optimizers = hidden + self._own_steps(recorder)
        for optimizer in optimizers:
            self._train_with(recorder, optimizer)
            if not recorder.is_idle:
                recorder.save_weights(optimizer)
                recorder.signals.save_rates(optimizer)
            self._cycle.ends_after(id(optimizer))
        return bool(optimizers)

    def _end_step(self, recorder: Recorder) -> None:
        if recorder.end_light_step():
            self._cycle.end()
            self._forwards = 0
            interception.take_quiet_begin()
            self._told = [0, 0]
            if not recorder.examiner.is_light or self._has_news or self.wants.passing.models or self._may_count():
                self._begin_step(recorder)
            return
        if self._mode == "train":
            if self._forwards == 0 and not recorder.is_idle and has_compiled():
                recorder.note_unseen(unseen.HIDDEN_CALLS)
            if not recorder.is_idle:
                recorder.save_buffers()
        end = recorder.end_step()
        recorder.forgive_saving()
        self._cycle.end()
        self._begin_step(recorder)
        if self._costs.step_ended(recorder):
            self._leave_process()
        if end.stop_requested and self._mode == "train":
            self._end.end(self._hook, str(end.stop_reason), end.mode_step)

    def models_to_save(self) -> list[Model]:
        return list(self._models)

    def optimizers_to_save(self) -> list[Optimizer]:
        """Those that step: others may be left over from what the program tried before."""
        return [optimizer for optimizer in self._models.optimizers() if self._cycle.is_in_use(id(optimizer))]

    # Signals.

    def gradients_zeroed(self, owner: Any) -> None:
        super().gradients_zeroed(owner)
        if self._recorder is not None and self._is_ours():
            self._recorder.examiner.gradients_zeroed()

    def gradients_clipped(self, norm: Any, limit: Any, value: Any = None) -> None:
        super().gradients_clipped(norm, limit, value)
        if self._recorder is not None and self._is_ours():
            self._recorder.examiner.gradients_clipped(norm, limit, value)

    def batch_taken(self, batch: Batch, taken: Taken) -> None:
        recorder = self._recorder
        if recorder is None:
            self._early.append((batch, look(*batch, taken, False)))
        elif self._is_ours() and self._mode == "train" and self._cycle.ends_before_batch():
            self._end_step(recorder)
        super().batch_taken(batch, taken)

    def loader_started(self, loader: Any) -> None:
        if self._recorder is None:
            self._early_loaders.append(describe_loader(loader))
        super().loader_started(loader)

    def _signals(self) -> Optional[Signals]:
        recorder = self._recorder
        return recorder.signals if recorder is not None and self._is_ours() else None

    def _phases(self) -> Optional[Phases]:
        recorder = self._recorder
        return recorder.phases if recorder is not None and self._is_ours() else None

    # Nesting.

    def _is_ours(self) -> bool:
        return self._running.are_in_thread()

    def _sees_activations(self) -> bool:
        """Not what is computed a second time inside a backward pass, nor what a tracer runs."""
        return self._is_ours() and self._backward_depth == 0 and not torch._C._is_tracing()

    def _enter(self, optimizer: Optimizer) -> bool:
        """Does the outermost step() begin? One that calls those of others is one step."""
        if not self._running.enter(optimizer):
            return False
        if self._running.are_nested():
            self._cycle.forget(id(optimizer))  # no step waits for it
            return False
        return True
