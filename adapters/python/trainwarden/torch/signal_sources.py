"""Signal sources: the places of torch where signals (docs/format/signals.md) occur, and are reported when wanted."""

from __future__ import annotations

import contextlib
import functools
import time
import weakref
from collections import deque
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch.optim import Optimizer

from .._imports import when_imported
from .. import faults
from . import gates, resuming
from .bad_samples import Taken
from .examination import loaded_files, program_calls
from .exchange import innermost, is_plain, put_around
from .frames import place_in_program
from .waits import WAITS

Notify = Callable[..., None]
Asks = Callable[[], bool]
_clock = time.perf_counter
_clock_ns = time.perf_counter_ns


class Batch(NamedTuple):
    """What a data loader gave."""

    indices: Any  # as its sampler has them; None: not known
    epoch: int
    number: int


def wrap(is_wanted: Asks, are_batches_wanted: Asks, is_timed: Asks, notify: Notify) -> list[Callable[..., Any]]:
    """`notify(method, ...)` calls the method of that name of SignalListener. Gives the functions put into torch.

    While `is_timed()` it is reported when a phase begins and ends. What torch.compile looks at asks first, and takes the
    answer for a constant.
    """
    when_imported("torch.utils.data.dataloader", lambda: _wrap_data_loaders(are_batches_wanted, notify))
    _wrap_save(is_wanted, notify)
    _wrap_load()
    return [
        *_wrap_zero_grad(Optimizer, is_timed, is_wanted, notify),
        *_wrap_zero_grad(torch.nn.Module, is_timed, is_wanted, notify),
        *_wrap_clipping(is_timed, is_wanted, notify),
        *_wrap_scaler(is_timed, is_wanted, notify),
        *program_calls.watch(),
    ]


class _Phase:
    """Is reported while it is entered."""

    __slots__ = ("_notify", "_name")

    def __init__(self, notify: Notify, name: str) -> None:
        self._notify = notify
        self._name = name

    def __enter__(self) -> None:
        self._notify("phase_begins", self._name)

    def __exit__(self, *raised: object) -> None:
        self._notify("phase_ends", self._name)


def _wrap_zero_grad(owner: Any, is_timed: Asks, is_wanted: Asks, notify: Notify) -> list[Callable[..., Any]]:
    torch_zero_grad = owner.zero_grad

    @functools.wraps(torch_zero_grad)
    def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_timed():
            return torch_zero_grad(self, *args, **kwargs)
        with _Phase(notify, "zero_grad"):
            result = torch_zero_grad(self, *args, **kwargs)
        if is_wanted():
            notify("gradients_zeroed", self)
        return result

    gates.signals.put(owner, "zero_grad", torch_zero_grad, zero_grad)
    return [zero_grad]


def _wrap_clipping(is_timed: Asks, is_wanted: Asks, notify: Notify) -> list[Callable[..., Any]]:
    def clip_norm(torch_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not is_timed():
            return torch_function(*args, **kwargs)
        with _Phase(notify, "clip"):
            norm = torch_function(*args, **kwargs)
        if is_wanted():
            notify("gradients_clipped", norm, args[1] if len(args) > 1 else kwargs.get("max_norm"))
        return norm

    def clip_value(torch_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not is_timed():
            return torch_function(*args, **kwargs)
        with _Phase(notify, "clip"):
            result = torch_function(*args, **kwargs)
        if is_wanted():
            notify("gradients_clipped", None, None, args[1] if len(args) > 1 else kwargs.get("clip_value"))
        return result

    wrapped = []
    for name, call in (("clip_grad_norm_", clip_norm), ("clip_grad_value_", clip_value)):
        function = innermost(getattr(torch.nn.utils, name))
        if is_plain(function):
            put_around(function, call)
            wrapped.append(call)
    return wrapped


def _wrap_scaler(is_timed: Asks, is_wanted: Asks, notify: Notify) -> list[Callable[..., Any]]:
    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler
    torch_step, torch_unscale = scaler.step, scaler.unscale_

    @functools.wraps(torch_step)
    def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_timed() or not self.is_enabled():
            return torch_step(self, optimizer, *args, **kwargs)
        if is_wanted():
            notify("scaler_steps", self, optimizer)
        with _Phase(notify, "optimizer"):
            result = torch_step(self, optimizer, *args, **kwargs)
        if is_wanted():
            notify("scaler_stepped", optimizer)
        return result

    @functools.wraps(torch_unscale)
    def unscale_(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_timed() or not self.is_enabled():
            return torch_unscale(self, *args, **kwargs)
        with _Phase(notify, "optimizer"):
            result = torch_unscale(self, *args, **kwargs)
        if is_wanted():
            notify("gradients_unscaled")
        return result

    scaler.step, scaler.unscale_ = step, unscale_
    return [step, unscale_]


# Data.


def _wrap_data_loaders(is_wanted: Asks, notify: Notify) -> None:
    """Which samples a batch has is known when its indices are drawn: with workers some batches earlier, in the same
    order."""
    from torch.utils.data import dataloader

    loader_class: Any = dataloader.DataLoader
    iterator_class: Any = dataloader._BaseDataLoaderIter
    drawn: weakref.WeakKeyDictionary[Any, deque[Any]] = weakref.WeakKeyDictionary()  # by iterator
    epochs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # begun, by loader
    epoch_of: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # by iterator
    made_at: weakref.WeakKeyDictionary[Any, Optional[str]] = weakref.WeakKeyDictionary()  # by loader and by iterator
    torch_init = loader_class.__init__
    torch_iter, torch_next = loader_class.__iter__, iterator_class.__next__
    torch_next_index, torch_reset = iterator_class._next_index, iterator_class._reset

    @functools.wraps(torch_init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        torch_init(self, *args, **kwargs)
        with contextlib.suppress(TypeError):  # a class of the program's that compares its loaders has no hash
            made_at[self] = place_in_program()

    @functools.wraps(torch_iter)
    def __iter__(self: Any) -> Any:
        begin = _clock_ns()
        with _Phase(notify, "data_start"):  # in every step, as checkpoints are
            iterator = torch_iter(self)
        WAITS.started(iterator, _clock_ns() - begin)
        notify("loader_started", self)
        epoch_of[iterator] = epochs[self] = epochs.get(self, -1) + 1
        made_at[iterator] = made_at.get(self)
        return iterator

    @functools.wraps(torch_reset)
    def _reset(self: Any, *args: Any, **kwargs: Any) -> Any:
        drawn[self] = deque()
        return torch_reset(self, *args, **kwargs)

    @functools.wraps(torch_next_index)
    def _next_index(self: Any) -> Any:
        index = torch_next_index(self)
        queue = drawn.get(self)
        if queue is None:
            queue = drawn[self] = deque()
        queue.append(index)
        return index

    counted_next = WAITS.counting(torch_next)

    @functools.wraps(torch_next)
    def __next__(self: Any) -> Any:
        batch = counted_next(self)
        queue = drawn.get(self)
        index = queue.popleft() if queue else None
        if is_wanted():
            in_order = getattr(self, "_in_order", True)
            taken = Taken(batch, getattr(self, "_dataset", None), self._num_workers, made_at.get(self))
            notify("batch_taken", Batch(index if in_order else None, epoch_of.get(self, 0), self._num_yielded - 1), taken)
        return batch

    loader_class.__init__ = __init__
    loader_class.__iter__, iterator_class.__next__ = __iter__, __next__
    iterator_class._next_index, iterator_class._reset = _next_index, _reset


# Checkpoints.


def _wrap_save(is_wanted: Asks, notify: Notify) -> None:
    def save(torch_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if resuming.is_on():
            torch_function = functools.partial(resuming.save, torch_function)
        begin = _clock()
        with _Phase(notify, "checkpoint"):
            result = torch_function(*args, **kwargs)
        if not is_wanted():
            return result
        what = args[0] if args else kwargs.get("obj")
        file = args[1] if len(args) > 1 else kwargs.get("f")
        notify("checkpoint_saved", what, file, _clock() - begin)
        return result

    function = innermost(torch.save)
    if is_plain(function):
        put_around(function, save)


def _wrap_load() -> None:
    """Where a job goes on is seen by the checkpoint that it loads, and what of it the program makes no use of."""
    function = innermost(torch.load)
    if is_plain(function) and (resuming.is_on() or program_calls.is_on()):
        put_around(function, _load)


def _load(torch_load: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    result = resuming.load(torch_load, *args, **kwargs) if resuming.is_on() else torch_load(*args, **kwargs)
    _note_loaded(result)
    return result


@faults.guarded("look at what torch.load() gave")
def _note_loaded(content: Any) -> None:
    if program_calls.is_on():
        loaded_files.note(content)
