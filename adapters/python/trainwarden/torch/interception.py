"""Interception: the places of torch at which a training is seen, and who is notified.

A listener (listeners.py) is notified of calls of modules, outputs of losses, backward passes and steps of optimizers. What is changed
in torch, once a process and only by switch_on():

- `torch.nn.Module.__call__` is a gate (gates.py) in front of torch's own. Hooks of torch would do the same, but hooks on a
  module are pickled, copied and compiled together with it, and global ones make torch.compile warn. A module that no
  listener wants costs a comparison.
- The code of loss and activation functions of `torch.nn.functional`, and of what torch.func.grad calls (functions.py).
- `torch.autograd.backward`, which Tensor.backward calls, and GradScaler.scale.
- What signals are seen by (signal_sources.py): zero_grad, clipping, gradient scalers, data loaders, torch.save.
- The code of the collective operations of torch.distributed (collectives.py).
- `torch.optim.Optimizer.__init__`, and steps of optimizers (optimizer_calls.py).

A call that no listener wants passes by in C, and a step that captures nothing is counted without a line of Python.
torch.compile sees none of it: it begins behind our functions, and inside a compiled region they are constant.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch.nn.modules.loss import _Loss

from .. import _log
from .._imports import when_imported
from .. import faults
from . import collectives, functions, gates, optimizer_calls, signal_sources
from .compiling import is_compiling
from .gates import Around
from .listeners import Listener, Passing, call_unheard, notify
from .listeners import board as _board
from .module_tree import is_training
from .waits import WAITS

# After so many calls of models in a step, and each time that they have doubled since, one of them is told: the step may have
# ended without anybody's notice.
_MAX_QUIET_CALLS = 64
_clock = time.perf_counter_ns
_thread = threading.get_ident


def add_listener(listener: Listener) -> None:
    if listener not in _board.listeners:
        _board.listeners += (listener,)
    update_wants()


def remove_listener(listener: Listener) -> None:
    _board.listeners = tuple(other for other in _board.listeners if other is not listener)
    update_wants()
    take_quiet_begin()  # what its last step began with is none of the next listener's


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
    _board.passing = wants[0].passing if len(wants) == 1 else Passing()
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
    passing = _board.passing
    if quiet is not None:
        gates.calls.note_in_training(quiet.in_train, torch.is_grad_enabled)
    else:
        gates.calls.note_in_training(passing.models, torch.is_grad_enabled if passing.with_gradients else _is_grad_disabled)
    gates.calls.look_at_kind(None if _board.is_idle else _Loss)
    gates.backward.look_at(() if _board.is_idle and not _board.backward else None)
    gates.signals.look_at(None if _board.signals or not _board.is_idle else ())
    gates.begins.look_at(None if _board.listeners else ())
    gates.steps.look_at(None if _board.listeners else ())
    if quiet is not None:
        gates.begins.count(quiet.optimizers, quiet.thread, None, None)
        gates.steps.count(quiet.optimizers, quiet.thread, quiet.end_step, optimizer_calls.begins_late)
    else:
        gates.begins.count((), 0, None, None)
        gates.steps.count((), 0, None, None)


def _is_grad_disabled() -> bool:
    return not torch.is_grad_enabled()


def take_quiet_begin() -> bool:
    """Was a model called since a step ended, quietly? Asked once a step."""
    begun, _board.quiet_begun = _board.quiet_begun, False
    _board.quiet_calls = 0
    return gates.calls.take_noted() or begun


def take_passed() -> int:
    """How many optimizers of a quiet step have stepped in it since this was asked, where several do."""
    return gates.steps.take_passed()


# Bits of take_modes().
IN_TRAIN, IN_EVAL = 1, 2


def take_ungraded() -> int:
    """How many calls of models in training mode, without gradients, were only counted since this was asked last."""
    return gates.calls.take_refused()


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


@functools.cache
def quiet_call_ns() -> float:
    """The cost of a call through one of our functions that is not reported, measured once."""
    ours = gates.stand_in(_nothing, Around(_see_nothing))
    if not gates.are_removed():
        ours.look_at(())
    best = [min(_time_calls(call) for _ in range(5)) for call in (ours, _nothing)]
    return max(best[0] - best[1], 0.0)


def _nothing(first: Any, second: Any) -> None:
    """Stands for a call of a module: one of torch would call the hooks that the program has put around all of them."""


def _see_nothing(first: Any, *more: Any) -> None:
    """Stands for what looks whether somebody is to be told of a call, where torch.compile has removed the gates."""
    if _board.seen is None and id(first) in _board.notified:
        _nothing(first, more)


def _time_calls(call: Callable[..., Any]) -> float:
    rounds, begin = 64, _clock()
    for _ in range(rounds):
        call(None, None)
    return (_clock() - begin) / rounds


def switch_on() -> None:
    """Puts our functions into torch. They stay: without listeners they only pass on."""
    if _board.is_on:
        return
    _board.is_on = True
    _log.send_to(_notify_of_log)
    _wrap_module_calls()
    _wrap_backward()
    _wrap_functions()
    _wrap_scale()
    signal_sources.wrap(_are_signals_wanted, _are_batches_wanted, _is_timed, _tell_signal)
    optimizer_calls.wrap_making()
    optimizer_calls.wrap_steps(_set_gates)
    _set_gates()
    when_imported("torch.distributed.pipelining.stage", _wrap_pipeline_stages)
    if hasattr(torch, "compile"):
        when_imported("torch._dynamo.eval_frame", _make_way_for_compiler)
        when_imported("torch._dynamo.symbolic_convert", _make_way_for_tracing)


def _make_way_for_compiler() -> None:
    _remove_gates_before("eval_frame", "OptimizeContext")
    _hide_from_compiler()


def _make_way_for_tracing() -> None:
    """Where a part of torch traces without torch.compile, as torch.export does."""
    _remove_gates_before("symbolic_convert", "InstructionTranslatorBase")


@faults.guarded("stay out of the way of torch.compile")
def _hide_from_compiler() -> None:
    """torch.compile begins behind these functions, not in them, and never looks at what a listener does."""
    eval_frame: Any = sys.modules["torch._dynamo.eval_frame"]
    skip_code = getattr(eval_frame, "skip_code", None)
    for function in gates.in_python_functions():
        if skip_code is not None:
            skip_code(function.__code__)
    set_strategy = getattr(eval_frame, "set_code_exec_strategy", None)
    if set_strategy is None:  # torch < 2.6
        _board.notify = eval_frame.DisableContext()(notify)
        gates.hide_from_compiler(lambda function: eval_frame.DisableContext()(function))
        return
    skip = eval_frame.FrameAction.SKIP
    whole = eval_frame.FrameExecStrategy(skip, skip)

    def hide(function: Any) -> Any:
        set_strategy(function.__code__, whole)
        return function

    hide(notify)
    gates.hide_from_compiler(hide)


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
            gates.exchanged.put(kind, "forward_one_chunk", vars(kind)["forward_one_chunk"], Around(_micro_batch_begins))


def _unheard_by_all(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return call_unheard(method, *args, **kwargs)

    return call


def _micro_batch_begins(*args: Any, **kwargs: Any) -> None:
    if not _board.is_idle:
        _board.notify("micro_batch_begins")


class _Call(NamedTuple):
    """Of a module that somebody is told of."""

    module: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_told: bool  # as the call of a model or of a part of it
    is_loss: bool


def _wrap_module_calls() -> None:
    board = _board

    def begins(module: Any, /, *args: Any, **kwargs: Any) -> Optional[_Call]:
        key, seen = id(module), board.seen
        is_loss = not board.is_idle and issubclass(type(module), _Loss)
        is_told = (seen is None or key in seen) and _is_told(key, module, args)
        if not (is_told or is_loss):
            return None
        if is_loss:
            board.notify("phase_begins", "loss")
        if is_told:
            board.notify("call_begins", module, args, kwargs)
        return _Call(module, args, kwargs, is_told, is_loss)

    def ends(call: _Call, output: Any) -> None:
        if call.is_told:
            board.notify("call_ends", call.module, output)
        if call.is_loss:
            board.notify("phase_ends", "loss")
            board.notify("loss_made", call.module, (*call.args, *call.kwargs.values()), output)

    def fails(call: _Call) -> None:
        if call.is_told:
            board.notify("call_fails", call.module)
        if call.is_loss:
            board.notify("phase_ends", "loss")

    gates.calls.put(torch.nn.Module, "__call__", torch.nn.Module.__call__, Around(begins, ends, fails))


def _is_told(key: int, module: Any, args: Any) -> bool:
    """Is somebody told of the call of this module?"""
    board = _board
    if key in board.modal:
        board.modes[key] = board.modes.get(key, 0) | (IN_TRAIN if is_training(module) else IN_EVAL)
    return (board.all_calls or key in board.notified) and not _means_nothing(key, module, args)


def _means_nothing(key: int, module: torch.nn.Module, args: Any) -> bool:
    """Is this call of a model nothing but counting? It then has been counted."""
    quiet, passing = _board.quiet, _board.passing
    if quiet is None:
        means_nothing = key in passing.models and torch.is_grad_enabled() == passing.with_gradients and is_training(module)
        _board.quiet_begun |= means_nothing
        return means_nothing
    if key in quiet.ignored:
        return True
    if is_training(module):
        _board.quiet_begun = True
        _board.quiet_calls += 1
        calls = _board.quiet_calls
        if key not in quiet.in_train or (calls >= _MAX_QUIET_CALLS and calls & (calls - 1) == 0):
            return False
        if not torch.is_grad_enabled():
            quiet.ungraded(args)
        return True
    return key in quiet.counted and quiet.thread == _thread() and quiet.end_step()


def _wrap_backward() -> None:
    board = _board

    def begins(*args: Any, **kwargs: Any) -> Any:
        if board.is_idle and not board.backward:
            return None
        board.notify("backward_begins", args[0] if args else kwargs.get("tensors"))
        return True

    def ends(note: Any, result: Any = None) -> None:
        board.notify("backward_ends")

    torch_backward: Any = torch.autograd.backward
    gates.backward.put(torch.autograd, "backward", torch_backward, Around(begins, ends, ends))
    gates.in_python_functions()[-1]._torchdynamo_disable = True  # type: ignore[attr-defined]


def _notify_of_log(values: Mapping[str, Any], step: Optional[int]) -> None:
    if not is_compiling() and _board.listeners:
        _board.notify("logged", values, step)


def _are_signals_wanted() -> bool:
    return _board.signals


def _are_batches_wanted() -> bool:
    return _board.batches


def _is_timed() -> bool:
    """Is the time of this step divided into phases?"""
    return not _board.is_idle


def _tell_signal(*args: Any) -> None:
    _board.notify(*args)


def _wrap_functions() -> None:
    def is_idle() -> bool:
        return _board.is_idle

    def are_activations_wanted() -> bool:
        return _board.activation_functions

    def notify_of_loss(*args: Any) -> None:
        _board.notify("loss_computed", *args)

    def notify_of_gradient(outputs: Any) -> None:
        _board.notify("gradient_taken", outputs)

    functions.wrap_losses(is_idle, notify_of_loss, _tell_signal)
    collectives.wrap(_is_timed, _tell_signal)
    functions.wrap_gradients(is_idle, notify_of_gradient)
    functions.wrap_activations(are_activations_wanted, _tell_signal)


def _wrap_scale() -> None:
    """GradScaler.scale(loss): the loss as it was before it was scaled."""
    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler

    def begins(*args: Any, **kwargs: Any) -> None:
        if not _board.is_idle:
            _board.notify("loss_scaled", args[1] if len(args) > 1 else kwargs.get("outputs"))

    gates.exchanged.put(scaler, "scale", scaler.scale, Around(begins))
