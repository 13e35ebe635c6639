"""Listeners: who is notified of what happens in a training, of what, and what that has taken.

Nothing here changes torch: interception.py does, and speaks to the one board of the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Callable, NamedTuple, Optional, TypeVar

import torch
from torch.optim import Optimizer

from .. import faults
from . import hiding, signal_sources
from .bad_samples import Taken
from .loss_options import LossOptions

_clock = time.perf_counter_ns
_thread = threading.get_ident
_Given = TypeVar("_Given")


class Quiet(NamedTuple):
    """What happens in a step of which nothing is wanted: it is only counted, and no listener is notified."""

    end_step: Callable[[], bool]  # ends the step; False: it has not ended, and everything must be reported
    thread: int
    optimizers: tuple[int, ...] = ()  # ids of those that step, in this order; the last one ends the step
    ignored: frozenset[int] = frozenset()  # ids of models whose calls mean nothing
    in_train: frozenset[int] = frozenset()  # a call of these in training mode means that the step has begun
    ungraded: Callable[[Any], None] = lambda args: None  # is told what one of those gets that is called without gradients
    counted: frozenset[int] = frozenset()  # a call of these in evaluation mode begins the next step


class Passing(NamedTuple):
    """Models that were called so often in a step that nobody is told of more such calls in it, but in evaluation mode."""

    models: frozenset[int] = frozenset()  # ids
    with_gradients: bool = False  # calls with gradients; else those without


class Wants(NamedTuple):
    """What of the current step a listener is to be notified of, beside the steps of optimizers."""

    all_calls: bool = False  # calls of all modules, not only those of modules that were given to watch_calls()
    calls: frozenset[int] = frozenset()  # those of the modules with these ids, too
    activation_functions: bool = False  # those of torch.nn.functional
    signals: bool = False  # what SignalListener is notified of
    backward: bool = False  # backward passes, also while it is idle
    batches: bool = False  # those that data loaders give, also without signals
    closures: bool = False  # calls of closures that optimizers are given
    modal: frozenset[int] = frozenset()  # ids of modules of which it is of interest in which mode they run
    is_idle: bool = False  # nothing at all but the calls of watched modules
    quiet: Optional[Quiet] = None  # heeded where there is no other listener
    passing: Passing = Passing()  # the same


class Listener:
    """Is notified of what happens, in the same thread. Its exceptions are logged and do not reach the training."""

    wants = Wants()

    def call_begins(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None: ...
    def call_ends(self, module: torch.nn.Module, output: Any) -> None: ...
    def call_fails(self, module: torch.nn.Module) -> None: ...
    def loss_made(self, module: torch.nn.Module, inputs: tuple[Any, ...], output: Any) -> None: ...
    def loss_computed(
        self, function: str, inputs: tuple[Any, ...], output: Any, options: LossOptions = LossOptions()
    ) -> None: ...
    def gradient_taken(self, outputs: Any) -> None: ...
    def micro_batch_begins(self) -> None: ...
    def activation_begins(self, function: str, caller: Any, value: Any) -> None: ...
    def activation_ends(self, function: str, caller: Any, value: Any) -> None: ...
    def phase_begins(self, phase: str) -> None: ...
    def phase_ends(self, phase: str) -> None: ...
    def loader_started(self, loader: Any) -> None: ...
    def gradients_zeroed(self, owner: Any) -> None: ...
    def gradients_clipped(self, norm: Any, limit: Any, value: Any = None) -> None: ...
    def gradients_unscaled(self) -> None: ...
    def scaler_steps(self, scaler: Any, optimizer: Any) -> None: ...
    def scaler_stepped(self, optimizer: Any) -> None: ...
    def batch_taken(self, batch: signal_sources.Batch, taken: Taken) -> None: ...
    def checkpoint_saved(self, what: Any, file: Any, seconds: float) -> None: ...
    def loss_scaled(self, loss: Any) -> None: ...
    def backward_begins(self, tensors: Any) -> None: ...
    def backward_ends(self) -> None: ...
    def logged(self, values: Mapping[str, Any], step: Optional[int]) -> None: ...
    def optimizer_made(self, optimizer: Optimizer) -> None: ...
    def optimizer_begins(self, optimizer: Optimizer, has_closure: bool) -> None: ...
    def closure_ends(self, optimizer: Optimizer) -> None: ...
    def optimizer_ends(self, optimizer: Optimizer, has_closure: bool) -> None: ...


# For the log: what could not be done.
_PURPOSES = {
    "call_begins": "capture the call of a model",
    "call_ends": "capture what a model gave",
    "call_fails": "see the failure of a model",
    "loss_made": "capture a loss",
    "loss_computed": "capture what a loss was computed from",
    "gradient_taken": "capture a loss that torch.func.grad is applied to",
    "micro_batch_begins": "see that a micro-batch begins",
    "activation_begins": "capture what an activation function gets",
    "activation_ends": "capture what an activation function gives",
    "phase_begins": "see that a phase of a step begins",
    "phase_ends": "see that a phase of a step ends",
    "loader_started": "look at a data loader",
    "gradients_zeroed": "see that gradients are zeroed",
    "gradients_clipped": "see that gradients are clipped",
    "gradients_unscaled": "see that gradients are unscaled",
    "scaler_steps": "capture the scale of a gradient scaler",
    "scaler_stepped": "see what a gradient scaler did",
    "batch_taken": "capture which samples a batch has",
    "checkpoint_saved": "look at a checkpoint",
    "loss_scaled": "capture a loss that is scaled",
    "backward_begins": "capture the loss of a backward pass",
    "backward_ends": "see the end of a backward pass",
    "logged": "save what the program logs",
    "optimizer_made": "see that there is an optimizer",
    "optimizer_begins": "capture the gradients of an optimizer",
    "closure_ends": "judge the gradients that a closure has computed",
    "optimizer_ends": "capture the weights of an optimizer",
}


def notify(method: str, *args: Any) -> None:
    """Calls the method of each listener. KeyboardInterrupt and SystemExit, StopTraining with it, are the program's."""
    if board.is_deaf or torch._C._is_tracing():  # what torch.jit.trace runs is no training
        return
    with at_work():
        for listener in board.listeners:
            try:
                getattr(listener, method)(*args)
            except Exception as error:
                faults.end_or_raise(_PURPOSES[method], error)


class Switchboard:
    """Who listens."""

    def __init__(self) -> None:
        self.listeners: tuple[Listener, ...] = ()
        self.all_calls = False
        self.is_idle = True  # all listeners are
        self.activation_functions = False  # some listener wants those
        self.signals = False  # the same
        self.backward = False  # the same
        self.batches = False  # the same
        self.closures = False  # the same
        self.modal: frozenset[int] = frozenset()
        self.modes: dict[int, int] = {}  # in which modes the modules of `modal` have run, by id
        self.watched: dict[int, int] = {}  # id of a module: how many watch it
        self.notified: frozenset[int] = frozenset()  # ids of modules whose calls are reported: watched and wanted ones
        self.seen: Optional[frozenset[int]] = frozenset()  # of those whose calls are looked at; None: of all
        self.functions = (True, True)  # are our calls in loss functions, and in activation functions
        self.spent_ns = 0  # in listeners, since the process began
        self.began_ns = 0  # when a listener was called that has not returned; 0: none
        self.with_gradients: Optional[bool] = None  # what the program computes is recorded; None: no listener is at work
        self.worker = 0  # the thread in which it was called
        self.resident_bytes: Optional[Callable[[], Optional[int]]] = None  # of the process; while that is measured
        self.grown_bytes = 0  # by which it grew in listeners since then
        self.is_on = False
        self.is_deaf = False  # what happens is no part of the training
        self.quiet: Optional[Quiet] = None
        self.passing = Passing()
        self.quiet_calls = 0  # of models in training mode since a step ended, that no listener was notified of
        self.quiet_begun = False  # a model was called since the last step ended, and no listener was notified
        self.quiet_step = 0  # id of an optimizer whose step() was not reported when it began
        self.notify: Callable[..., None] = notify


board = Switchboard()


def are_gradients_recorded() -> bool:
    """Of what the program computes; what listeners compute never is."""
    return torch.is_grad_enabled() if board.with_gradients is None else board.with_gradients


def spent_ns() -> int:
    """Nanoseconds that listeners have taken in this process, until now."""
    return board.spent_ns + (_clock() - board.began_ns if board.began_ns else 0)


class at_work:
    """What is done inside is on the bill of the listeners, and the program's modes and profilers do not see it."""

    __slots__ = ("_hidden", "_begin", "_resident")

    def __enter__(self) -> None:
        self._hidden: Optional[hiding.Hidden] = None
        self._begin = self._resident = 0
        if board.worker == _thread():
            return
        self._begin = _clock()
        if board.resident_bytes is not None:
            self._resident = board.resident_bytes() or 0
        if not board.began_ns:
            board.began_ns, board.worker = self._begin, _thread()
        self._hidden = hiding.hide()
        board.with_gradients = self._hidden.with_gradients

    def __exit__(self, *raised: object) -> None:
        if self._hidden is None:
            return
        hiding.show(self._hidden)
        board.with_gradients = None
        if board.worker == _thread():
            if self._resident and board.resident_bytes is not None:
                board.grown_bytes += (board.resident_bytes() or 0) - self._resident
            board.began_ns = board.worker = 0
            board.spent_ns += _clock() - self._begin


def leave_out(nanoseconds: int) -> None:
    """What a listener did for the program, not for itself, is not on its bill."""
    board.spent_ns -= nanoseconds


@contextmanager
def unheard() -> Iterator[None]:
    """What happens inside is our own doing: no signals are reported."""
    before, board.signals = board.signals, False
    try:
        yield
    finally:
        board.signals = before


@contextmanager
def deaf() -> Iterator[None]:
    """Nobody is notified of what happens inside: it is no part of the training, or somebody else's."""
    before, board.is_deaf = board.is_deaf, True
    try:
        yield
    finally:
        board.is_deaf = before


def call_unheard(function: Callable[..., _Given], *args: Any, **kwargs: Any) -> _Given:
    """Calls it without notifying anybody."""
    with deaf():
        return function(*args, **kwargs)
