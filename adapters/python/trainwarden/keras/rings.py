"""Rings: what steps within a compiled loop compute. Each writes a row of a variable, which is read behind the loop.

What is computed in the body of a loop cannot be handed out of it. Variables are seen from everywhere. A ring has few
rows, and the last steps overwrite the first. Of tensors it has statistics, of losses the numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from .. import faults
from .columns import Column, Row


def _variable(initial: Callable[[], Any]) -> Any:
    """Outside of the function that is traced, which may make none when it is traced again: it is not told."""
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable

    with tf.init_scope():
        return ResourceVariable(initial(), trainable=False)


class _Counter:
    """How often one optimizer has updated, in all calls of the function."""

    def __init__(self) -> None:
        self.variable = _variable(lambda: tf.constant(0, tf.int64))
        self.before = 0  # the call that runs


class _Site:
    """One update in the code of the loop: its rows, and the number of the update that each is of."""

    def __init__(self, counter: _Counter, columns: list[Column], rows: int, dtype: Any) -> None:
        self.counter = counter
        self.columns = columns
        self.losses = sum(column.shape is None for column in columns)
        width = sum(column.width for column in columns)
        self._rows = _variable(lambda: tf.zeros((rows, width), dtype))
        self._numbers = _variable(lambda: tf.fill((rows,), tf.constant(-1, tf.int64)))

    def write(self, row: Any) -> None:
        """Where the update is traced."""
        number = self.counter.variable.read_value()
        place = tf.expand_dims(number % self._rows.shape[0], 0)
        self._rows.scatter_update(tf.IndexedSlices(tf.expand_dims(row, 0), place))
        self._numbers.scatter_update(tf.IndexedSlices(tf.expand_dims(number, 0), place))

    def read(self) -> dict[int, Row]:
        """By the number of the update."""
        rows, numbers = self._rows.numpy(), self._numbers.numpy()
        return {int(number): list(self._split(row)) for number, row in zip(numbers, rows) if number >= 0}

    def _split(self, row: Any) -> Iterator[tuple[Column, Any]]:
        begin = 0
        for column in self.columns:
            yield column, row[begin : begin + column.width]
            begin += column.width


@dataclass
class _Update:
    """One that is traced now: what its row has so far."""

    optimizer: Any
    columns: list[Column] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


class Rings:
    """Of one trace of a function.

    Arguments:
        rows: of how many steps of a call.
        will_want: (name, collections) -> will the tensor ever be wanted?
    """

    def __init__(self, rows: int, will_want: Callable[..., bool]) -> None:
        self._size = rows
        self._will_want = will_want
        self._losses: list[Any] = []  # since the last update
        self._counters: dict[int, _Counter] = {}  # by the optimizer
        self._sites: list[_Site] = []
        self._open: Optional[_Update] = None

    def add_loss(self, value: Any) -> None:
        if isinstance(value, tf.Tensor) and value.shape.rank == 0 and value.dtype.is_floating:
            self._losses.append(value)

    def begin_update(self, optimizer: Any, gradients: list[tuple[str, Any]], names: Any) -> None:
        """`gradients`: with their names; None for those that cannot be seen."""
        self._open = _Update(optimizer)
        first = self._losses_before(self._counter_of(optimizer))
        losses, self._losses = [each for each in self._losses if _is_in_reach(each)], []
        for number, loss in enumerate(losses, first):
            column = Column(names.of_loss("loss" if number == 0 else f"loss#{number}"), "losses", loss.dtype.name)
            self._add(self._open, column, tf.reshape(loss, [1]))
        for name, gradient in gradients:
            self._add_statistics(self._open, name, gradient, "gradients")

    def end_update(self, weights: list[tuple[str, Any, str]]) -> None:
        """`weights`: as they are now, with their names and collections."""
        update, self._open = self._open, None
        if update is None:
            return
        for name, value, collection in weights:
            self._add_statistics(update, name, value, collection, is_weight=True)
        counter = self._counter_of(update.optimizer)
        if update.columns:
            is_double = any(value.dtype == tf.float64 for value in update.values)
            dtype = tf.float64 if is_double else tf.float32
            site = _Site(counter, update.columns, self._size, dtype)
            site.write(tf.concat([tf.cast(value, dtype) for value in update.values], 0))
            self._sites.append(site)
        counter.variable.assign_add(1)

    def begin_call(self) -> None:
        for counter in self._counters.values():
            counter.before = int(counter.variable.numpy())

    def steps(self) -> int:
        """Of the call. Several optimizers step together."""
        return max(map(_new_in, self._counters.values()), default=0)

    def last_rows(self) -> list[Row]:
        """Those of the call that are left, the oldest first; of optimizers that have stepped as often as any."""
        steps = self.steps()
        rows: list[Row] = [[] for _ in range(min(steps, self._size))]
        for site in self._sites:
            first = site.counter.before + steps - len(rows)
            if _new_in(site.counter) == steps:
                found = site.read()
                for index, row in enumerate(rows):
                    row += found.get(first + index, [])
            elif _new_in(site.counter) > 0:
                faults.say_once("of optimizers that step in some steps of a compiled loop nothing is kept")
        return rows

    def _counter_of(self, optimizer: Any) -> _Counter:
        if id(optimizer) not in self._counters:
            self._counters[id(optimizer)] = _Counter()
        return self._counters[id(optimizer)]

    def _losses_before(self, counter: _Counter) -> int:
        """How many a step has of the optimizers that come before this one. A loop may be traced several times."""
        earlier = itertools.takewhile(lambda each: each is not counter, self._counters.values())
        return sum(max((site.losses for site in self._sites if site.counter is each), default=0) for each in earlier)

    def _add_statistics(
        self, update: _Update, name: str, value: Any, collection: str, is_weight: bool = False
    ) -> None:
        """Not of a tensor whose size is not known while it is traced, as the rows of an embedding."""
        if value is None or not value.dtype.is_floating or not value.shape.is_fully_defined():
            return
        if self._will_want(name, collection):
            column = Column(name, collection, value.dtype.name, tuple(value.shape), is_weight)
            self._add(update, column, _statistics_of(value))

    def _add(self, update: _Update, column: Column, value: Any) -> None:
        update.columns.append(column)
        update.values.append(value)


def _new_in(counter: _Counter) -> int:
    return int(counter.variable.numpy()) - counter.before


def _is_in_reach(value: Any) -> bool:
    """Can code that is traced now use it? It can what the graphs around its own have."""
    graph = tf.compat.v1.get_default_graph()
    while graph is not None and graph is not value.graph:
        graph = getattr(graph, "outer_graph", None)
    return graph is not None


def _statistics_of(value: Any) -> Any:
    """In float32, over the elements that are finite, in the order of Column."""
    flat = tf.reshape(tf.cast(value, tf.float32), [-1])
    finite = tf.math.is_finite(flat)
    size = tf.abs(flat)
    kept = tf.where(finite, flat, 0.0)
    numbers = [
        tf.reduce_min(tf.where(finite, flat, np.inf)),
        tf.reduce_max(tf.where(finite, flat, -np.inf)),
        tf.reduce_min(tf.where(finite, size, np.inf)),
        *map(tf.reduce_sum, (kept, tf.abs(kept), kept * kept)),
    ]
    counted = [tf.math.is_nan(flat), tf.equal(flat, np.inf), tf.equal(flat, -np.inf), tf.equal(flat, 0.0)]
    return tf.stack(numbers + [tf.cast(tf.math.count_nonzero(each), tf.float32) for each in counted])
