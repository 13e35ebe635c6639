"""Signal sources: the places of torch where signals (docs/format/signals.md) occur, and are reported when wanted."""

from __future__ import annotations

import time
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
from .gates import Around
from .identity import ByIdentity
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


def wrap(is_wanted: Asks, are_batches_wanted: Asks, is_timed: Asks, notify: Notify) -> None:
    """`notify(method, ...)` calls the method of that name of SignalListener. While `is_timed()` it is reported when a phase
    begins and ends."""
    when_imported("torch.utils.data.dataloader", lambda: _wrap_data_loaders(are_batches_wanted, notify))
    _wrap_save(is_wanted, notify)
    _wrap_load()
    for owner in (Optimizer, torch.nn.Module):
        _wrap_zero_grad(owner, is_timed, is_wanted, notify)
    _wrap_clipping(is_timed, is_wanted, notify)
    _wrap_scaler(is_timed, is_wanted, notify)
    program_calls.watch()


def _phase(name: str, is_timed: Callable[..., bool], notify: Notify, then: Callable[..., None]) -> Around:
    """Reports a phase around a function while is_timed(*args) says so; then(args, kwargs, result) follows it."""

    def begins(*args: Any, **kwargs: Any) -> Any:
        if not is_timed(*args):
            return None
        notify("phase_begins", name)
        return args, kwargs

    def ends(call: Any, result: Any) -> None:
        notify("phase_ends", name)
        then(*call, result)

    return Around(begins, ends, lambda call: notify("phase_ends", name))


def _wrap_zero_grad(owner: Any, is_timed: Asks, is_wanted: Asks, notify: Notify) -> None:
    def then(args: Any, kwargs: Any, result: Any) -> None:
        if is_wanted():
            notify("gradients_zeroed", args[0])

    put_around(innermost(owner.zero_grad), _phase("zero_grad", lambda *_: is_timed(), notify, then), gates.signals)


def _wrap_clipping(is_timed: Asks, is_wanted: Asks, notify: Notify) -> None:
    def norm_clipped(args: Any, kwargs: Any, norm: Any) -> None:
        if is_wanted():
            notify("gradients_clipped", norm, args[1] if len(args) > 1 else kwargs.get("max_norm"))

    def value_clipped(args: Any, kwargs: Any, result: Any) -> None:
        if is_wanted():
            notify("gradients_clipped", None, None, args[1] if len(args) > 1 else kwargs.get("clip_value"))

    for name, then in (("clip_grad_norm_", norm_clipped), ("clip_grad_value_", value_clipped)):
        function = innermost(getattr(torch.nn.utils, name))
        if is_plain(function):
            put_around(function, _phase("clip", lambda *_: is_timed(), notify, then))


def _wrap_scaler(is_timed: Asks, is_wanted: Asks, notify: Notify) -> None:
    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler

    def is_used(scaling: Any, *_: Any) -> bool:
        return is_timed() and scaling.is_enabled()

    def stepped(args: Any, kwargs: Any, result: Any) -> None:
        if is_wanted():
            notify("scaler_stepped", args[1] if len(args) > 1 else kwargs.get("optimizer"))

    def unscaled(args: Any, kwargs: Any, result: Any) -> None:
        if is_wanted():
            notify("gradients_unscaled")

    around = _phase("optimizer", is_used, notify, stepped)

    def step_begins(*args: Any, **kwargs: Any) -> Any:
        if args and is_used(args[0]) and is_wanted():
            notify("scaler_steps", args[0], args[1] if len(args) > 1 else kwargs.get("optimizer"))
        return around.begins(*args, **kwargs)

    gates.exchanged.put(scaler, "step", scaler.step, around._replace(begins=step_begins))
    gates.exchanged.put(scaler, "unscale_", scaler.unscale_, _phase("optimizer", is_used, notify, unscaled))


# Data.


def _wrap_data_loaders(is_wanted: Asks, notify: Notify) -> None:
    """Which samples a batch has is known when its indices are drawn: with workers some batches earlier, in the same
    order."""
    from torch.utils.data import dataloader

    loader_class: Any = dataloader.DataLoader
    iterator_class: Any = dataloader._BaseDataLoaderIter
    drawn: ByIdentity[deque[Any]] = ByIdentity()  # by iterator
    epochs: ByIdentity[int] = ByIdentity()  # begun, by loader
    epoch_of: ByIdentity[int] = ByIdentity()  # by iterator
    made_at: ByIdentity[Optional[str]] = ByIdentity()  # by loader and by iterator

    def made(loader: Any, result: Any) -> None:
        made_at[loader] = place_in_program()

    def starts(loader: Any) -> Any:
        notify("phase_begins", "data_start")  # in every step, as checkpoints are
        return loader, _clock_ns()

    def started(start: Any, iterator: Any) -> None:
        loader, begin = start
        notify("phase_ends", "data_start")
        WAITS.started(iterator, _clock_ns() - begin)
        notify("loader_started", loader)
        epoch_of[iterator] = epochs[loader] = epochs.get(loader, -1) + 1
        made_at[iterator] = made_at.get(loader)

    def reset(iterator: Any, *args: Any, **kwargs: Any) -> None:
        drawn[iterator] = deque()

    def index_drawn(iterator: Any, index: Any) -> None:
        queue = drawn.get(iterator)
        if queue is None:
            queue = drawn[iterator] = deque()
        queue.append(index)

    def batch_given(wait: Any, batch: Any) -> None:
        iterator = wait[0]
        WAITS.ends(wait)
        queue = drawn.get(iterator)
        index = queue.popleft() if queue else None
        if is_wanted():
            in_order = getattr(iterator, "_in_order", True)
            taken = Taken(batch, getattr(iterator, "_dataset", None), iterator._num_workers, made_at.get(iterator))
            place = Batch(index if in_order else None, epoch_of.get(iterator, 0), iterator._num_yielded - 1)
            notify("batch_taken", place, taken)

    for owner, name, around in (
        (loader_class, "__init__", Around(lambda loader, *_, **__: (loader,), lambda note, _: made(note[0], _))),
        (loader_class, "__iter__", Around(starts, started, lambda start: notify("phase_ends", "data_start"))),
        (iterator_class, "__next__", Around(WAITS.begins, batch_given, WAITS.fails)),
        (iterator_class, "_next_index", Around(lambda iterator: (iterator,), lambda note, index: index_drawn(note[0], index))),
        (iterator_class, "_reset", Around(reset)),
    ):
        gates.exchanged.put(owner, name, getattr(owner, name), around)


# Checkpoints.


def _wrap_save(is_wanted: Asks, notify: Notify) -> None:
    def begins(*args: Any, **kwargs: Any) -> Any:
        notify("phase_begins", "checkpoint")
        saving = _clock(), resuming.save_begins(args, kwargs)
        call = (args, kwargs, *saving)
        return call if saving[1] is None else (call, saving[1].args, saving[1].kwargs)

    def ends(call: Any, result: Any) -> None:
        args, kwargs, begin, partial = call
        if partial is not None:
            partial.put()
        else:
            resuming.save_ended(args, kwargs)
        notify("phase_ends", "checkpoint")
        if is_wanted():
            what = args[0] if args else kwargs.get("obj")
            notify("checkpoint_saved", what, args[1] if len(args) > 1 else kwargs.get("f"), _clock() - begin)

    def fails(call: Any) -> None:
        if call[3] is not None:
            call[3].drop()
        notify("phase_ends", "checkpoint")

    function = innermost(torch.save)
    if is_plain(function):
        put_around(function, Around(begins, ends, fails))


def _wrap_load() -> None:
    """Where a job goes on is seen by the checkpoint that it loads, and what of it the program makes no use of."""

    def begins(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    def ends(call: Any, result: Any) -> None:
        resuming.loaded(*call)
        _note_loaded(result)

    function = innermost(torch.load)
    if is_plain(function):
        put_around(function, Around(begins, ends))


@faults.guarded("look at what torch.load() gave")
def _note_loaded(content: Any) -> None:
    if program_calls.is_on():
        loaded_files.note(content)
