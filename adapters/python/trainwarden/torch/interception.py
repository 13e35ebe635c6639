"""Interception: the places of torch at which a training is seen, and who is notified.

A listener is notified of calls of modules, outputs of losses, backward passes and steps of optimizers. What is changed
in torch, once a process and only by switch_on():

- `torch.nn.Module.__call__` and that of the loss modules are functions of ours around torch's own. Hooks of torch would
  do the same, but hooks on a module are pickled, copied and compiled together with it, and global ones make
  torch.compile warn. A module that no listener wants costs a comparison.
- The code of loss and activation functions of `torch.nn.functional`, and of what torch.func.grad calls (functions.py).
- `torch.autograd.backward`, which Tensor.backward calls, and GradScaler.scale.
- What signals are seen by (signal_sources.py): zero_grad, clipping, gradient scalers, data loaders, torch.save.
- The code of the collective operations of torch.distributed (collectives.py).
- `torch.optim.Optimizer.__init__`.
- torch's own hooks around Optimizer.step (before torch 2.0, which has none: Optimizer's own wrapping of step).

torch.compile sees none of it: it begins behind our functions, and inside a compiled region they are constant.

Until torch.compile begins, which looks at functions of Python only, gates (gates.py) are put around ours: then a call
that no listener wants passes by them, and a step that captures nothing is counted without a line of Python.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Callable, NamedTuple, Optional, TypeVar

import torch
from torch.nn.modules.loss import _Loss
from torch.optim import Optimizer

from .. import _log
from .._imports import when_imported
from .. import faults
from . import collectives, functions, gates, signal_sources
from .bad_samples import Taken
from .waits import WAITS

try:
    from torch.compiler import is_compiling

    _CAN_COMPILE = True
except ImportError:  # torch < 2.3
    try:
        from torch._utils import is_compiling

        _CAN_COMPILE = True
    except ImportError:  # torch < 2.1
        _CAN_COMPILE = False

        def is_compiling() -> bool:
            return False


# So many calls of models belong to a step quietly. If it still has not ended, it may do so without anybody's notice.
_MAX_QUIET_CALLS = 64
_clock = time.perf_counter_ns
_thread = threading.get_ident
_Given = TypeVar("_Given")


class Quiet(NamedTuple):
    """What happens in a step of which nothing is wanted: it is only counted, and no listener is notified."""

    end_step: Callable[[], bool]  # ends the step; False: it has not ended, and everything must be reported
    thread: int
    optimizer: int = 0  # the id of the one whose step() ends the step, where there is one
    ignored: frozenset[int] = frozenset()  # ids of models whose calls mean nothing
    in_train: frozenset[int] = frozenset()  # a call of these in training mode means that the step has begun
    ungraded: Callable[[Any], None] = lambda args: None  # is told what one of those gets that is called without gradients
    counted: frozenset[int] = frozenset()  # a call of these in evaluation mode begins the next step


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


class Listener:
    """Is notified of what happens, in the same thread. Its exceptions are logged and do not reach the training."""

    wants = Wants()

    def call_begins(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None: ...
    def call_ends(self, module: torch.nn.Module, output: Any) -> None: ...
    def call_fails(self, module: torch.nn.Module) -> None: ...
    def loss_made(self, module: torch.nn.Module, inputs: tuple[Any, ...], output: Any) -> None: ...
    def loss_computed(
        self, function: str, inputs: tuple[Any, ...], output: Any, ignore_index: Optional[int] = None
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


def _notify(method: str, *args: Any) -> None:
    """Calls the method of each listener. KeyboardInterrupt and SystemExit, StopTraining with it, are the program's."""
    if _board.is_deaf:
        return
    outer, begin = _board.began_ns, _clock()
    _board.began_ns = outer or begin
    try:
        for listener in _board.listeners:
            try:
                getattr(listener, method)(*args)
            except Exception as error:
                faults.report(_PURPOSES[method], error)
    finally:
        _board.began_ns = outer
        if not outer:
            _board.spent_ns += _clock() - begin


class _Switchboard:
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
        self.is_on = False
        self.is_deaf = False  # what happens is no part of the training
        self.quiet: Optional[Quiet] = None
        self.quiet_calls = 0  # of models in training mode since a step ended, that no listener was notified of
        self.quiet_begun = False  # a model was called since the last step ended, and no listener was notified
        self.quiet_step = 0  # id of an optimizer whose step() was not reported when it began
        self.notify: Callable[..., None] = _notify


_board = _Switchboard()


def add_listener(listener: Listener) -> None:
    if listener not in _board.listeners:
        _board.listeners += (listener,)
    update_wants()


def remove_listener(listener: Listener) -> None:
    _board.listeners = tuple(other for other in _board.listeners if other is not listener)
    update_wants()


def update_wants() -> None:
    """To be called when a listener has changed its `wants`."""
    wants = [listener.wants for listener in _board.listeners]
    _board.all_calls = any(each.all_calls for each in wants)
    _board.notified = frozenset(_board.watched).union(*(each.calls for each in wants))
    _board.activation_functions = any(each.activation_functions for each in wants)
    _board.signals = any(each.signals for each in wants)
    _board.backward = any(each.backward for each in wants)
    _board.batches = any(each.signals or each.batches for each in wants)
    _board.closures = any(each.closures for each in wants)
    _board.modal = frozenset[int]().union(*(each.modal for each in wants))
    _board.is_idle = all(each.is_idle for each in wants)
    _board.quiet = wants[0].quiet if len(wants) == 1 else None
    WAITS.timed = None if _board.is_idle else _tell_signal
    _look_at_wanted()


def _look_at_wanted() -> None:
    _board.seen = None if _board.all_calls else _board.notified | _board.modal
    _set_gates()
    # torch.compile looks at the code of functions: once it has begun nothing is exchanged under its eyes.
    if not gates.are_removed():
        _switch_functions(not _board.is_idle, _board.activation_functions)


def _switch_functions(losses: bool, activations: bool) -> None:
    if _board.functions != (losses, activations):
        _board.functions = (losses, activations)
        functions.switch_losses(losses)
        functions.switch_activations(activations)
        collectives.switch(losses)


def _set_gates() -> None:
    quiet = _board.quiet
    gates.calls.look_at(None if _board.seen is None else _board.seen - (quiet.ignored if quiet else frozenset()))
    gates.calls.note_in_training(quiet.in_train if quiet else ())
    gates.losses.look_at(() if _board.is_idle and not _board.backward else None)
    gates.signals.look_at(None if _board.signals or not _board.is_idle else ())
    gates.begins.look_at(None if _board.listeners else ())
    gates.steps.look_at(None if _board.listeners else ())
    if quiet is not None:
        gates.begins.count(quiet.optimizer, quiet.thread, None, None)
        gates.steps.count(quiet.optimizer, quiet.thread, quiet.end_step, _begins_late)
    else:
        gates.begins.count(0, 0, None, None)
        gates.steps.count(0, 0, None, None)


def take_quiet_begin() -> bool:
    """Was a model called since a step ended, quietly? Asked once a step."""
    begun, _board.quiet_begun = _board.quiet_begun, False
    _board.quiet_calls = 0
    return gates.calls.take_noted() or begun


# Bits of take_modes().
IN_TRAIN, IN_EVAL = 1, 2


def take_modes(module_ids: frozenset[int]) -> list[int]:
    """In which modes those of these modules that have run since the last time did run."""
    modes = _board.modes
    return [modes.pop(key) for key in list(modes) if key in module_ids]


def watch_calls(module: torch.nn.Module) -> None:
    """Calls of this module are reported, also without wants_all_calls, until as many ignore_calls()."""
    _board.watched[id(module)] = _board.watched.get(id(module), 0) + 1
    _board.notified |= {id(module)}
    _look_at_wanted()


def ignore_calls(module_id: int) -> None:
    left = _board.watched.get(module_id, 1) - 1
    if left > 0:
        _board.watched[module_id] = left
    else:
        _board.watched.pop(module_id, None)
        _board.notified -= {module_id}  # what is wanted of it is not asked again before the next step
        _look_at_wanted()


def spent_ns() -> int:
    """Nanoseconds that listeners have taken in this process, until now."""
    return _board.spent_ns + (_clock() - _board.began_ns if _board.began_ns else 0)


@functools.cache
def quiet_call_ns() -> float:
    """The cost of a call through one of our functions that is not reported, measured once."""
    module, ours = torch.nn.Identity(), torch.nn.Module.__call__
    calls = (ours, getattr(ours, "__wrapped__", ours))
    seen, _board.seen = _board.seen, frozenset()
    _set_gates()
    best = [min(_time_calls(call, module) for _ in range(5)) for call in calls]
    _board.seen = seen
    _set_gates()
    return max(best[0] - best[1], 0.0)


def _time_calls(call: Callable[..., Any], module: torch.nn.Module) -> float:
    rounds, begin = 64, _clock()
    for _ in range(rounds):
        call(module, None)
    return (_clock() - begin) / rounds


@contextmanager
def at_work() -> Iterator[None]:
    """What is done inside for a listener that nobody notified is on its bill."""
    outer, begin = _board.began_ns, _clock()
    _board.began_ns = outer or begin
    try:
        yield
    finally:
        _board.began_ns = outer
        if not outer:
            _board.spent_ns += _clock() - begin


def leave_out(nanoseconds: int) -> None:
    """What a listener did for the program, not for itself, is not on its bill."""
    _board.spent_ns -= nanoseconds


@contextmanager
def unheard() -> Iterator[None]:
    """What happens inside is our own doing: no signals are reported."""
    before, _board.signals = _board.signals, False
    try:
        yield
    finally:
        _board.signals = before


def switch_on() -> None:
    """Puts our functions into torch. They stay: without listeners they only pass on."""
    if _board.is_on:
        return
    _board.is_on = True
    _log.send_to(_notify_of_log)
    ours = [
        _wrap_module_calls(),
        _wrap_loss_calls(),
        _wrap_backward(),
        *_wrap_functions(),
        *_wrap_scale(),
        *signal_sources.wrap(_are_signals_wanted, _are_batches_wanted, _is_timed, _tell_signal),
        _wrap_optimizer_making(),
        *_hook_optimizers(),
    ]
    _set_gates()
    when_imported("torch.distributed.pipelining.stage", _wrap_pipeline_stages)
    if hasattr(torch, "compile"):
        when_imported("torch._dynamo.eval_frame", functools.partial(_make_way_for_compiler, ours))
        when_imported("torch._dynamo.symbolic_convert", _make_way_for_tracing)


def _make_way_for_compiler(functions: list[Callable[..., Any]]) -> None:
    _remove_gates_before("eval_frame", "OptimizeContext")
    _hide_from_compiler(functions)


def _make_way_for_tracing() -> None:
    """Where a part of torch traces without torch.compile, as torch.export does."""
    _remove_gates_before("symbolic_convert", "InstructionTranslatorBase")


@faults.guarded("stay out of the way of torch.compile")
def _hide_from_compiler(functions: list[Callable[..., Any]]) -> None:
    """torch.compile begins behind these functions, not in them, and never looks at what a listener does."""
    eval_frame: Any = sys.modules["torch._dynamo.eval_frame"]
    skip_code = getattr(eval_frame, "skip_code", None)
    for function in functions:
        if skip_code is not None:
            skip_code(function.__code__)
    set_strategy = getattr(eval_frame, "set_code_exec_strategy", None)
    if set_strategy is None:  # torch < 2.6
        _board.notify = eval_frame.DisableContext()(_notify)
    else:
        skip = eval_frame.FrameAction.SKIP
        set_strategy(_notify.__code__, eval_frame.FrameExecStrategy(skip, skip))


@faults.guarded("remove the gates when torch.compile begins")
def _remove_gates_before(module: str, class_name: str) -> None:
    """Before the first object of this class of torch.compile's is made, which is before it looks at any function."""
    kind: Any = getattr(sys.modules[f"torch._dynamo.{module}"], class_name)
    torch_init = kind.__init__

    @functools.wraps(torch_init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if kind.__init__ is __init__:
            kind.__init__ = torch_init
        _remove_gates()
        torch_init(self, *args, **kwargs)

    kind.__init__ = __init__


@faults.guarded("remove the gates when torch.compile begins")
def _remove_gates() -> None:
    if gates.are_removed():
        return
    _board.quiet_begun |= gates.calls.take_noted()
    gates.remove()
    _switch_functions(losses=True, activations=True)
    quiet_call_ns.cache_clear()


@faults.guarded("see the micro-batches of a pipeline")
def _wrap_pipeline_stages() -> None:
    """A stage computes the forward passes of several micro-batches before their backward passes. At the beginning it
    tries, with numbers that mean nothing, what shapes go in and out."""
    kinds = vars(sys.modules["torch.distributed.pipelining.stage"]).values()
    for kind in [each for each in kinds if isinstance(each, type)]:
        for name in ("_forward_metadata_inference", "_backward_metadata_inference"):
            if name in vars(kind):
                setattr(kind, name, _unheard_by_all(vars(kind)[name]))
        if "forward_one_chunk" in vars(kind):
            setattr(kind, "forward_one_chunk", _with_micro_batch(vars(kind)["forward_one_chunk"]))


@contextmanager
def deaf() -> Iterator[None]:
    """Nobody is notified of what happens inside: it is no part of the training, or somebody else's."""
    before, _board.is_deaf = _board.is_deaf, True
    try:
        yield
    finally:
        _board.is_deaf = before


def call_unheard(function: Callable[..., _Given], *args: Any, **kwargs: Any) -> _Given:
    """Calls it without notifying anybody."""
    with deaf():
        return function(*args, **kwargs)


def _unheard_by_all(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return call_unheard(method, *args, **kwargs)

    return call


def _with_micro_batch(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _board.is_idle:
            _board.notify("micro_batch_begins")
        return method(*args, **kwargs)

    return call


def _wrap_module_calls() -> Callable[..., Any]:
    board, torch_call = _board, torch.nn.Module.__call__

    @functools.wraps(torch_call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _CAN_COMPILE and is_compiling():
            return torch_call(self, *args, **kwargs)
        key, seen = id(self), board.seen
        if seen is not None and key not in seen:
            return torch_call(self, *args, **kwargs)
        if key in board.modal:
            board.modes[key] = board.modes.get(key, 0) | (IN_TRAIN if self.training else IN_EVAL)
        if not (board.all_calls or key in board.notified) or _means_nothing(key, self, args):
            return torch_call(self, *args, **kwargs)
        _board.notify("call_begins", self, args, kwargs)
        try:
            output = torch_call(self, *args, **kwargs)
        except BaseException:
            _board.notify("call_fails", self)
            raise
        _board.notify("call_ends", self, output)
        return output

    gates.calls.put(torch.nn.Module, "__call__", torch_call, __call__)
    return __call__


def _means_nothing(key: int, module: torch.nn.Module, args: Any) -> bool:
    """Is this call of a model nothing but counting? It then has been counted."""
    quiet = _board.quiet
    if quiet is None:
        return False
    if key in quiet.ignored:
        return True
    if module.training:
        _board.quiet_begun = True
        _board.quiet_calls += 1
        if key not in quiet.in_train or _board.quiet_calls > _MAX_QUIET_CALLS:
            return False
        if not torch.is_grad_enabled():
            quiet.ungraded(args)
        return True
    return key in quiet.counted and quiet.thread == _thread() and quiet.end_step()


def _wrap_loss_calls() -> Callable[..., Any]:
    board, module_call = _board, torch.nn.Module.__call__

    @functools.wraps(module_call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        # In this order, here and below: torch.compile guards all that is read before it, and compiles again.
        if is_compiling() or board.is_idle:
            return torch.nn.Module.__call__(self, *args, **kwargs)
        # As it is now: torch.fx puts its own there while it traces.
        _board.notify("phase_begins", "loss")
        try:
            output = torch.nn.Module.__call__(self, *args, **kwargs)
        finally:
            _board.notify("phase_ends", "loss")
        _board.notify("loss_made", self, (*args, *kwargs.values()), output)
        return output

    gates.losses.put(_Loss, "__call__", module_call, __call__)
    return __call__


def _wrap_backward() -> Callable[..., Any]:
    board, torch_backward = _board, torch.autograd.backward

    @functools.wraps(torch_backward)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if board.is_idle and not board.backward:
            return torch_backward(tensors, *args, **kwargs)
        _board.notify("backward_begins", tensors)
        try:
            return torch_backward(tensors, *args, **kwargs)
        finally:
            _board.notify("backward_ends")

    backward._torchdynamo_disable = True  # type: ignore[attr-defined]
    gates.losses.put(torch.autograd, "backward", torch_backward, backward)
    return backward


def _notify_of_log(values: Mapping[str, Any], step: Optional[int]) -> None:
    if not is_compiling() and _board.listeners:
        _board.notify("logged", values, step)


def _are_signals_wanted() -> bool:
    return not is_compiling() and _board.signals


def _are_batches_wanted() -> bool:
    return not is_compiling() and _board.batches


def _is_timed() -> bool:
    """Is the time of this step divided into phases?"""
    return not is_compiling() and not _board.is_idle


def _tell_signal(*args: Any) -> None:
    _board.notify(*args)


def _wrap_functions() -> list[Callable[..., Any]]:
    def is_idle() -> bool:
        return is_compiling() or _board.is_idle

    def are_activations_wanted() -> bool:
        return not is_compiling() and _board.activation_functions

    def notify_of_loss(*args: Any) -> None:
        _board.notify("loss_computed", *args)

    def notify_of_gradient(outputs: Any) -> None:
        _board.notify("gradient_taken", outputs)

    def notify_of_activation(*args: Any) -> None:
        _board.notify(*args)

    return [
        *functions.wrap_losses(is_idle, notify_of_loss, _tell_signal),
        *collectives.wrap(_is_timed, _tell_signal),
        *functions.wrap_gradients(is_idle, notify_of_gradient),
        *functions.wrap_activations(are_activations_wanted, notify_of_activation),
    ]


def _wrap_scale() -> list[Callable[..., Any]]:
    """GradScaler.scale(loss): the loss as it was before it was scaled."""
    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler
    torch_scale = scaler.scale

    @functools.wraps(torch_scale)
    def scale(self: Any, outputs: Any) -> Any:
        if not is_compiling() and not _board.is_idle:
            _board.notify("loss_scaled", outputs)
        return torch_scale(self, outputs)

    scaler.scale = scale
    return [scale]


def _has_closure(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Was a closure given to Optimizer.step? The arguments are those without the optimizer."""
    closure: Optional[Any] = args[0] if args else kwargs.get("closure")
    return closure is not None


def _with_reported_closure(
    optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of Optimizer.step, without the optimizer: of each call of the closure it is reported that it ends."""
    closure: Any = args[0] if args else kwargs["closure"]

    def reported(*given: Any, **named: Any) -> Any:
        result = closure(*given, **named)
        _board.notify("closure_ends", optimizer)
        return result

    return ((reported, *args[1:]), kwargs) if args else (args, {**kwargs, "closure": reported})


def _wrap_optimizer_making() -> Callable[..., Any]:
    torch_init = Optimizer.__init__

    @functools.wraps(torch_init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        torch_init(self, *args, **kwargs)
        if _board.listeners:
            _board.notify("optimizer_made", self)

    Optimizer.__init__ = __init__
    return __init__


def _hook_optimizers() -> list[Callable[..., Any]]:
    try:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    except ImportError:  # torch < 2.0
        return _wrap_optimizer_steps()

    def begins(optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[tuple[Any, Any]]:
        if is_compiling() or not _board.listeners:
            return None
        has_closure = _has_closure(args[1:], kwargs)
        if not _begins_quietly(optimizer, has_closure):
            _board.notify("optimizer_begins", optimizer, has_closure)
        if not has_closure or not _board.closures:
            return None
        ours, kwargs = _with_reported_closure(optimizer, args[1:], kwargs)
        return (args[0], *ours), kwargs

    def ends(optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not is_compiling() and _board.listeners and not _ends_quietly(optimizer):
            _board.notify("optimizer_ends", optimizer, _has_closure(args[1:], kwargs))

    handles = register_optimizer_step_pre_hook(begins), register_optimizer_step_post_hook(ends)
    tables = [handle.hooks_dict_ref() for handle in handles]
    gate = gates.begins.put(tables[0], handles[0].id, None, begins)
    gates.steps.put(tables[1], handles[1].id, None, ends, behind=gate)
    return [begins, ends]


def sees_steps_of(optimizer: Optimizer) -> bool:
    """Are listeners notified of its step()? Not of one that only passes on to another optimizer, as those of
    accelerate and Lightning do: torch has hooks for the classes whose __init__ is its own."""
    step = type(optimizer).step
    return getattr(step, "hooked", False) or getattr(step, "_trainwarden", False)


def _begins_quietly(optimizer: Optimizer, has_closure: bool) -> bool:
    """Is this a step() that is only counted, when it ends?"""
    quiet, key = _board.quiet, id(optimizer)
    if quiet is None or quiet.optimizer != key or has_closure or quiet.thread != _thread():
        return False
    _board.quiet_step = key
    return True


def _ends_quietly(optimizer: Optimizer) -> bool:
    """Has the step() been counted? One that began quietly and means more now is reported from its beginning."""
    if _board.quiet_step != id(optimizer):
        return False
    _board.quiet_step = 0
    quiet = _board.quiet
    if quiet is not None and quiet.optimizer == id(optimizer) and quiet.end_step():
        _board.quiet_begun = False
        _board.quiet_calls = 0
        return True
    _board.notify("optimizer_begins", optimizer, False)
    return False


def _begins_late(optimizer: Optimizer) -> None:
    """A step() that has passed a gate, to be counted, and means more."""
    _board.notify("optimizer_begins", optimizer, False)
    _board.notify("optimizer_ends", optimizer, False)


def _wrap_optimizer_steps() -> list[Callable[..., Any]]:
    """Where torch wraps the `step` of an optimizer's class for its profiler, once a class, ours goes around it."""
    torch_wrapping = Optimizer._hook_for_profile

    @functools.wraps(torch_wrapping)
    def _hook_for_profile(self: Any) -> None:
        torch_wrapping(self)
        _wrap_step(type(self))

    Optimizer._hook_for_profile = _hook_for_profile
    for optimizer_class in _subclasses(Optimizer):
        if getattr(optimizer_class.step, "hooked", False):  # made before us
            _wrap_step(optimizer_class)
    return []


def _subclasses(of: type) -> list[Any]:
    direct: list[Any] = of.__subclasses__()
    return direct + [below for each in direct for below in _subclasses(each)]


def _wrap_step(optimizer_class: Any) -> None:
    torch_step = optimizer_class.step
    if getattr(torch_step, "_trainwarden", False):
        return

    @functools.wraps(torch_step)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _board.listeners:
            return torch_step(self, *args, **kwargs)
        has_closure = _has_closure(args, kwargs)
        if not _begins_quietly(self, has_closure):
            _board.notify("optimizer_begins", self, has_closure)
        if has_closure and _board.closures:
            args, kwargs = _with_reported_closure(self, args, kwargs)
        result = torch_step(self, *args, **kwargs)
        if not _ends_quietly(self):
            _board.notify("optimizer_ends", self, has_closure)
        return result

    gates.steps.put(optimizer_class, "step", torch_step, step)
    optimizer_class.step._trainwarden = True
    _set_gates()
