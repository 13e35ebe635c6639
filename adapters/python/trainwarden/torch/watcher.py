"""Watcher: captures one model through a hook that the program has opened itself."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Callable, Optional

import torch
from torch.optim import Optimizer

from .._core import StepEnd
from ..hook import Hook
from ..options import Mode
from . import interception, listeners
from ..faults import guarded
from .loss_options import LossOptions
from .phases import Phases
from .recorder import Recorder
from .roots import Model
from .saving import StateSaver, Training, save_on_request
from .signals import SignalListener, Signals
from .transforms import depth_of_gradients
from .wrappers import unwrapped


class Watcher(SignalListener, Training):
    """Captures what a model does. Made by watch(); used by the thread that trains."""

    def __init__(
        self,
        hook: Any,
        model: torch.nn.Module,
        optimizer: Optional[Optimizer] = None,
        loss: Optional[Callable[..., Any]] = None,
        prefix: str = "",
    ) -> None:
        self._hook = hook
        self._optimizer = optimizer
        self._loss = loss
        self._model = Model(unwrapped(model), prefix)
        self._model.add_entry(model)
        self._recorder = Recorder(hook, prefix)
        self._parameters = self._recorder.table()
        self._thread = threading.get_ident()
        self._depth = 0  # of calls of the model within each other
        self._backward_depth = 0
        self._recorder.names.look_again = self._take_in
        self._take_in()
        self._entry_ids = [id(entry) for entry in self._model.entries]
        for entry in self._model.entries:
            interception.watch_calls(entry)
        interception.switch_on()
        self._saver = self._offer()
        self._begin_step()
        interception.add_listener(self)

    def step(self) -> StepEnd:
        """Captures the current parameters, gradients, buffers and optimizer state, and ends the hook's step."""
        with listeners.at_work():
            self._save_model()
            end: StepEnd = self._recorder.end_step()
            self._recorder.forgive_saving()
            self._begin_step()
        return end

    def set_mode(self, mode: Mode | str) -> None:
        """In place of the hook's own, so that activations are looked for exactly when the new mode wants any."""
        self._recorder.phases.leave_mode(self._hook.mode_step)
        self._hook.set_mode(mode)
        self._begin_step()

    def detach(self) -> None:
        """Captures no more. The hook stays open."""
        if self._entry_ids:
            self._recorder.close(has_begun=False)
        interception.remove_listener(self)
        if self._saver is not None:
            self._saver.remove(self)
        for entry_id in self._entry_ids:
            interception.ignore_calls(entry_id)
        self._entry_ids = []

    def __enter__(self) -> Watcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()

    def _offer(self) -> Optional[StateSaver]:
        """A model without its optimizer is no state to go on from."""
        if self._optimizer is None or not isinstance(self._hook, Hook):
            return None
        return save_on_request(self._hook, self)

    def models_to_save(self) -> list[Model]:
        return [self._model]

    def optimizers_to_save(self) -> list[Optimizer]:
        return [] if self._optimizer is None else [self._optimizer]

    def _take_in(self) -> None:
        """Takes the model in, as it is now."""
        self._recorder.forget_models()
        self._recorder.add_model(self._model)

    def _begin_step(self) -> None:
        self._recorder.begin_step(str(self._hook.current_mode))
        self.wants = self._recorder.wants()
        interception.update_wants()

    @guarded("capture the model")
    def _save_model(self) -> None:
        module = self._model.module
        if module is None:
            return
        parameters: list[torch.Tensor] = list(module.parameters())
        if self._optimizer is None:
            self._parameters.save_gradients(parameters)
            self._parameters.save_weights(parameters)
        self._recorder.save_buffers()

    # What the program does.

    def call_begins(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self._is_seen():
            return
        if id(module) in self._entry_ids:
            self._depth += 1
            if self._depth == 1:
                if self._is_training() and torch.is_grad_enabled():
                    self._recorder.begin_pass(id(self._model))
                self._recorder.losses.begin_call()
                self._recorder.signals.forward_begins(id(self._model), args, kwargs)
                self._recorder.phases.begin("forward")
        self._recorder.activations.save_inputs(module, args, kwargs)

    def call_ends(self, module: torch.nn.Module, output: Any) -> None:
        if not self._is_seen():
            return
        self._recorder.activations.save_outputs(module, output)
        if id(module) in self._entry_ids:
            self._leave_model()
            if self._depth == 0:
                self._recorder.losses.see_output(output)
        elif module is self._loss and not isinstance(module, torch.nn.modules.loss._Loss):
            self._recorder.losses.see_module(module, (), output)

    def call_fails(self, module: torch.nn.Module) -> None:
        if not self._is_seen():
            return
        self._recorder.activations.end_call(module)
        if id(module) in self._entry_ids:
            self._leave_model()
            if self._depth == 0:
                self._recorder.losses.see_output(None)

    def _leave_model(self) -> None:
        self._depth = max(0, self._depth - 1)
        if self._depth == 0:
            self._recorder.phases.end("forward")

    def loss_made(self, module: torch.nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if self._is_seen() and (self._loss is None or module is self._loss):
            self._recorder.losses.see_module(module, inputs, output)

    def loss_computed(
        self, function: str, inputs: tuple[Any, ...], output: Any, options: LossOptions = LossOptions()
    ) -> None:
        if self._is_seen() and not isinstance(self._loss, torch.nn.Module):
            self._recorder.losses.see_function(function, inputs, output, is_backward_expected=self._is_training())

    def gradient_taken(self, outputs: Any) -> None:
        if self._is_seen() and depth_of_gradients() == 1:
            self._recorder.losses.see_transform(outputs)

    def micro_batch_begins(self) -> None:
        if self._is_seen():
            self._recorder.begin_micro_batch()

    def activation_begins(self, function: str, caller: Any, value: Any) -> None:
        if self._is_seen() and self._recorder.activations.knows(caller):
            self._recorder.activations.save_function_input(function, caller, value)

    def activation_ends(self, function: str, caller: Any, value: Any) -> None:
        if self._is_seen() and self._recorder.activations.knows(caller):
            self._recorder.activations.save_function_output(function, caller, value)

    def backward_begins(self, tensors: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        self._backward_depth += 1
        if self._backward_depth == 1:
            self._recorder.begin_backward(tensors)

    def backward_ends(self) -> None:
        if threading.get_ident() != self._thread or self._backward_depth == 0:
            return
        self._backward_depth -= 1
        if self._backward_depth == 0:
            self._recorder.end_backward()

    def optimizer_begins(self, optimizer: Optimizer, has_closure: bool) -> None:
        if optimizer is not self._optimizer:
            return
        if self._recorder.signals.wanted:
            self._recorder.signals.optimizer_begins(optimizer, has_closure)
        self._recorder.phases.begin("optimizer")
        if not has_closure:
            self._recorder.end_passes()
            self._recorder.save_gradients(optimizer)
            self._recorder.judge(optimizer)

    def closure_ends(self, optimizer: Optimizer) -> None:
        if optimizer is self._optimizer:
            self._recorder.end_closure(optimizer)

    def optimizer_ends(self, optimizer: Optimizer, has_closure: bool) -> None:
        if optimizer is not self._optimizer:
            return
        self._recorder.phases.end("optimizer")
        if has_closure:
            self._recorder.end_closures(optimizer)
        self._recorder.save_weights(optimizer)
        self._recorder.signals.save_rates(optimizer)
        if self._recorder.signals.wanted:
            self._recorder.signals.optimizer_ends(optimizer, has_closure)

    def _is_training(self) -> bool:
        return self._hook.current_mode not in ("eval", "predict")

    def _signals(self) -> Optional[Signals]:
        return self._recorder.signals if threading.get_ident() == self._thread else None

    def _phases(self) -> Optional[Phases]:
        return self._recorder.phases if threading.get_ident() == self._thread else None

    def _is_seen(self) -> bool:
        """Not what is computed a second time inside a backward pass, nor what a tracer runs."""
        return threading.get_ident() == self._thread and self._backward_depth == 0 and not torch._C._is_tracing()


def watch(
    hook: Any,
    model: torch.nn.Module,
    optimizer: Optional[Optimizer] = None,
    loss: Optional[Callable[..., Any]] = None,
    prefix: str = "",
) -> Watcher:
    """Captures what a model does, through a hook of your own.

        watcher = trainwarden.torch.watch(hook, model, optimizer)
        for images, labels in data:
            ...
            optimizer.step()
            if watcher.step().stop_requested:
                break

    Arguments:
        hook: where to save; its options decide what is saved, when and in which form.
        model: may be wrapped in DataParallel, DistributedDataParallel or torch.compile; names are the model's own.
        optimizer: gradients are captured when its step() begins, weights when it ends. Without one both are captured by
            Watcher.step(). With one the state of both is saved on request (docs/guide/save-now.md), unless
            Hook.on_checkpoint() has a function for that. A guard of the hook (Hook.guard) judges before this
            optimizer's step, or behind the first call of its closure, and may remove the gradients so that nothing
            changes.
        loss: the module that computes the loss; without one every loss module counts.
        prefix: before every name, for several models in one run: "generator."
    """
    return Watcher(hook, model, optimizer, loss, prefix)
