"""Optimizer calls: steps of optimizers and their closures, and that an optimizer is made.

With torch's own hooks around Optimizer.step; before torch 2.0, which has none, with Optimizer's own wrapping of step.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Optional

from torch.optim import Optimizer

from . import gates
from .compiling import is_compiling
from .exchange import innermost, put_around
from .gates import Around
from .listeners import board
from .own_update import OwnUpdate

_thread = threading.get_ident


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
        board.notify("closure_ends", optimizer)
        return result

    return ((reported, *args[1:]), kwargs) if args else (args, {**kwargs, "closure": reported})


def wrap_making() -> None:
    def begins(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        return (optimizer,) if board.listeners else None

    around = Around(begins, lambda made, _: board.notify("optimizer_made", made[0]))
    put_around(innermost(Optimizer.__init__), around)


def wrap_steps(set_gates: Callable[[], None]) -> None:
    """`set_gates` is called when a gate has come later."""
    try:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    except ImportError:  # torch < 2.0
        _wrap_steps_of_classes(set_gates)
        return

    def begins(optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[tuple[Any, Any]]:
        if is_compiling() or not board.listeners:
            return None
        has_closure = _has_closure(args[1:], kwargs)
        if not _begins_quietly(optimizer, has_closure):
            board.notify("optimizer_begins", optimizer, has_closure)
        if not has_closure or not board.closures:
            return None
        ours, kwargs = _with_reported_closure(optimizer, args[1:], kwargs)
        return (args[0], *ours), kwargs

    def ends(optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not is_compiling() and board.listeners and not _ends_quietly(optimizer):
            board.notify("optimizer_ends", optimizer, _has_closure(args[1:], kwargs))

    handles = register_optimizer_step_pre_hook(begins), register_optimizer_step_post_hook(ends)
    tables = [handle.hooks_dict_ref() for handle in handles]
    gate = gates.begins.put(tables[0], handles[0].id, None, Around(begins))
    gates.steps.put(tables[1], handles[1].id, None, Around(ends), behind=gate)


def sees_steps_of(optimizer: Optimizer) -> bool:
    """Are listeners notified of its step()? Not of one that only passes on to another optimizer, as those of
    accelerate and Lightning do: torch has hooks for the classes whose __init__ is its own."""
    step = type(optimizer).step
    if type(optimizer) is OwnUpdate:
        return True
    return getattr(step, "hooked", False) or getattr(step, "_trainwarden", False)


def _begins_quietly(optimizer: Optimizer, has_closure: bool) -> bool:
    """Is this a step() that is only counted, when it ends?"""
    quiet, key = board.quiet, id(optimizer)
    if quiet is None or quiet.optimizers != (key,) or has_closure or quiet.thread != _thread():
        return False
    board.quiet_step = key
    return True


def _ends_quietly(optimizer: Optimizer) -> bool:
    """Has the step() been counted? One that began quietly and means more now is reported from its beginning."""
    if board.quiet_step != id(optimizer):
        return False
    board.quiet_step = 0
    quiet = board.quiet
    if quiet is not None and quiet.optimizers == (id(optimizer),) and quiet.end_step():
        board.quiet_begun = False
        board.quiet_calls = 0
        return True
    board.notify("optimizer_begins", optimizer, False)
    return False


def begins_late(optimizer: Optimizer) -> None:
    """A step() that has passed a gate, to be counted, and means more."""
    board.notify("optimizer_begins", optimizer, False)
    board.notify("optimizer_ends", optimizer, False)


def _wrap_steps_of_classes(set_gates: Callable[[], None]) -> None:
    """Where torch wraps the `step` of an optimizer's class for its profiler, once a class, ours goes around it."""

    def ends(optimizer: Any, _: Any) -> None:
        _wrap_step(type(optimizer[0]), set_gates)

    put_around(Optimizer._hook_for_profile, Around(lambda optimizer: (optimizer,), ends))
    for optimizer_class in _subclasses(Optimizer):
        if getattr(optimizer_class.step, "hooked", False):  # made before us
            _wrap_step(optimizer_class, set_gates)


def _subclasses(of: type) -> list[Any]:
    direct: list[Any] = of.__subclasses__()
    return direct + [below for each in direct for below in _subclasses(each)]


def _wrap_step(optimizer_class: Any, set_gates: Callable[[], None]) -> None:
    torch_step = optimizer_class.step
    if getattr(torch_step, "_trainwarden", False):
        return

    def begins(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if not board.listeners:
            return None
        has_closure = _has_closure(args, kwargs)
        if not _begins_quietly(optimizer, has_closure):
            board.notify("optimizer_begins", optimizer, has_closure)
        note = optimizer, has_closure
        if not has_closure or not board.closures:
            return note
        args, kwargs = _with_reported_closure(optimizer, args, kwargs)
        return note, (optimizer, *args), kwargs

    def ends(note: Any, _: Any) -> None:
        if not _ends_quietly(note[0]):
            board.notify("optimizer_ends", *note)

    is_of_program = not optimizer_class.__module__.startswith("torch.")
    gates.steps.put(optimizer_class, "step", torch_step, Around(begins, ends), is_of_program=is_of_program)
    optimizer_class.step._trainwarden = True
    set_gates()
