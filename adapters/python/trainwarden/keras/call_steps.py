"""How many steps one call has on TensorFlow, where steps_per_execution makes several of them one graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, Optional

from .. import faults
from .functions import Followed
from .optimizers import updates_of

# By the iterator that a call takes its batches from: the epoch of Keras 3 that it is of. None is kept alive.
_epochs: weakref.WeakKeyDictionary[Any, Callable[[], Any]] = weakref.WeakKeyDictionary()


def steps_per_call(model: Any) -> int:
    """At most. Keras 2 keeps the number in a variable."""
    return int(getattr(model, "_steps_per_execution", None) or getattr(model, "steps_per_execution", None) or 1)


def steps_of(function: Followed, args: tuple[Any, ...]) -> int:
    """Of a call with these arguments, at most: the last one of an epoch may have fewer."""
    if not function.gives_logs or not args:
        return 1
    batches = args[0]
    if isinstance(batches, list):  # as predict() of Keras 3 has them
        return max(1, len(batches))
    if isinstance(batches, Generator):  # of train_on_batch() and its like
        return 1
    at_most = steps_per_call(function.model)
    return at_most if at_most == 1 else max(1, min(at_most, _left_in(batches) or at_most))


def steps_so_far(function: Followed) -> Optional[int]:
    """Of the model, by what its steps count. None: nothing counts them, and steps_of() is all that is known."""
    if function.kind == "train":
        return updates_of(function.model.optimizer)
    counter = getattr(function.model, f"_{function.kind}_counter", None)  # of Keras 2
    return None if counter is None else int(counter.numpy())


def enumerating(original: Callable[..., Any]) -> Callable[..., Any]:
    """EpochIterator._enumerate_iterator() of Keras 3: an item before each call."""

    def _enumerate_iterator(epoch: Any) -> Iterator[Any]:
        for each in original(epoch):
            _note(each[2], epoch)
            yield each

    return _enumerate_iterator


@faults.guarded("learn how many batches an epoch of Keras has")
def _note(iterator: Any, epoch: Any) -> None:
    with suppress(TypeError):  # of a kind that nobody can refer to: then nothing is known of its epoch
        _epochs[iterator] = weakref.ref(epoch)


def _left_in(iterator: Any) -> Optional[int]:
    """Batches. None: not known, as of data from a generator."""
    epoch = None
    with suppress(TypeError):
        epoch = _epochs.get(iterator, lambda: None)()
    if epoch is None or not epoch._num_batches:
        return None
    return int(epoch._num_batches - epoch._steps_seen + epoch.steps_per_execution)  # those of this call count as seen
