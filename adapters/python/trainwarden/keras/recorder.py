"""Recorder: what is kept of a step of a model."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Optional

import numpy as np

from ..hook import Hook
from .collecting import ACTIVATIONS, EVERYTHING, GRADIENTS
from .columns import Column, Row
from .functions import Followed, Parts
from .names import ModelNames
from .optimizers import variables_of

_LOSS = "loss"
_MEAN = "epoch_mean/loss"  # what Keras calls the loss: its mean since the epoch began


class Known:
    """A model, and the numbers of its tensors."""

    def __init__(self, model: Any, names: ModelNames, hook: Hook) -> None:
        self.model = weakref.ref(model)
        self.names = names
        self.loss = hook.declare(names.of_loss(_LOSS), ["losses"])
        self.variables: dict[int, int] = {}
        self.gradients: list[int] = []
        self.state: dict[int, int] = {}  # of the optimizer

    def look(self, hook: Hook) -> None:
        """Its variables are known when it has been called."""
        self.names.look()
        self.variables.clear()
        self.gradients.clear()
        self.state.clear()
        for variable, name in self.names.variables:
            collections = self.names.collections_of(variable)
            if collections is None:
                continue
            self.variables[id(variable)] = hook.declare(name, collections)
            if self.names.is_trained(variable):
                self.gradients.append(hook.declare(f"gradient/{name}", ["gradients"]))
        model = self.model()
        for variable in variables_of(getattr(model, "optimizer", None)):
            self.state[id(variable)] = hook.declare(self.names.of_state(variable), ["optimizer_state"])


class Recorder:
    """Of one hook. Belongs to the thread that trains."""

    def __init__(self, hook: Hook, backend: Any) -> None:
        self._hook = hook
        self._backend = backend
        self._save_value = backend.saver(hook)
        self._models: list[Known] = []
        self._ids: dict[str, int] = {}

    def names_of(self, model: Any) -> ModelNames:
        return self._known(model).names

    def wanted_parts(self, function: Followed) -> Optional[Parts]:
        """None: not even the loss."""
        self.learn(function)
        hook = self._hook
        known = self._known(function.model)
        if function.learnt is None:
            return EVERYTHING  # a pattern may mean what is not known yet
        if not hook.wants_anything():
            return None
        parts = set()
        if function.kind == "train" and hook.wants_any(known.gradients):
            parts.add(GRADIENTS)
        rest = [self._id(name) for name, collections in function.learnt.items() if not _costs_nothing(collections)]
        if hook.wants_any(rest):
            parts.add(ACTIVATIONS)
        return frozenset(parts) if parts or hook.wants(known.loss) else None

    def record_inside(self, function: Followed, found: Mapping[str, Any]) -> None:
        """What a step computed on its way to new weights."""
        self.learn(function)
        with self._on_the_bill():
            if not self._hook.wants_anything():
                return
            collections = function.learnt or {}
            for name, value in found.items():
                self._keep(self._id(name, *collections.get(name, ())), value)

    def learn(self, function: Followed) -> None:
        if function.has_news:
            function.has_news = False
            self._known(function.model).look(self._hook)

    def will_want(self, name: str, *collections: str) -> bool:
        return self._hook.next_wanted_step(self._id(name, *collections)) is not None

    def record_row(self, row: Row) -> None:
        """Of a step in a loop within a compiled function."""
        with self._on_the_bill():
            if self._hook.wants_anything():
                for column, values in row:
                    self._keep_column(column, values)

    def record_last_row(self, function: Followed, row: Row) -> None:
        """Behind which the weights are as they are now."""
        self.record_row([cell for cell in row if not cell[0].is_weight])
        self.record_end(function, None)

    def record_end(self, function: Followed, result: Any) -> None:
        """What there is when it has ended."""
        with self._on_the_bill():
            if self._hook.wants_anything():
                self._save(function, result)

    def record_validation(self, model: Any, results: Mapping[str, Any]) -> None:
        """What came of the validation of an epoch: in its last step, whichever steps are kept."""
        names = self.names_of(model)
        for name, value in results.items():
            number = np.asarray(value)
            if number.ndim == 0 and number.dtype.kind in "fiu":
                self._hook.save_scalar(names.of_loss(f"val_{name}"), float(number))

    @contextmanager
    def _on_the_bill(self) -> Iterator[None]:
        begin = time.perf_counter_ns()
        in_hook = self._hook.report().training_thread_ns
        yield
        spent = time.perf_counter_ns() - begin - (self._hook.report().training_thread_ns - in_hook)
        self._hook.add_cost_ns(max(0, spent))

    def _save(self, function: Followed, result: Any) -> None:
        known = self._known(function.model)
        if function.gives_logs:
            self._keep_logs(known, self._backend.logs(result))
        if function.kind == "train":
            self._keep_weights(known, function.model, result)
            self._keep_state(known, function.model, result)

    def _keep(self, identity: int, value: Any) -> None:
        if self._hook.wants(identity):
            self._save_value(identity, value)

    def _keep_column(self, column: Column, values: Any) -> None:
        identity = self._id(column.name, column.collection)
        if not self._hook.wants(identity):
            return
        if column.shape is None:
            self._save_value(identity, column.number(values))
        else:
            given = column.statistics(values)
            self._hook.save_statistics(identity, list(column.shape), column.dtype, **given)

    def _keep_logs(self, known: Known, logs: Mapping[str, Any]) -> None:
        for key, value in logs.items():
            name = _MEAN if key == _LOSS else key
            self._keep(self._id(known.names.of_loss(name), "metrics", "scalars"), value)

    def _keep_weights(self, known: Known, model: Any, result: Any) -> None:
        if not self._hook.wants_any(list(known.variables.values())):
            return
        for variable, value in self._backend.weights(model, result):
            identity = known.variables.get(id(variable))
            if identity is not None:
                self._keep(identity, value)

    def _keep_state(self, known: Known, model: Any, result: Any) -> None:
        if model.optimizer is None:
            return
        rate_id = self._id(known.names.of_loss("learning_rate"), "scalars")
        rate = self._backend.learning_rate(model, result) if self._hook.wants(rate_id) else None
        if rate is not None:
            self._save_value(rate_id, rate)
        if not self._hook.wants_any(list(known.state.values())):
            return
        for variable, value in self._backend.optimizer_state(model, result):
            identity = known.state.get(id(variable))
            if identity is not None:
                self._keep(identity, value)

    def _id(self, name: str, *collections: str) -> int:
        identity = self._ids.get(name)
        if identity is None:
            identity = self._ids[name] = self._hook.declare(name, collections)
        return identity

    def _known(self, model: Any) -> Known:
        for known in self._models:
            if known.model() is model:
                return known
        known = Known(model, self._names_for(model), self._hook)
        self._models.append(known)
        return known

    def _names_for(self, model: Any) -> ModelNames:
        """A model that was made again has the names of the one before; one beside it names of its own."""
        names = ModelNames(model)
        if not self._models or any(names.same_as(known.names) for known in self._models):
            return names
        return ModelNames(model, f"model_{len(self._models)}/")


def _costs_nothing(collections: tuple[str, ...]) -> bool:
    return bool(collections) and collections[0] in ("losses", "gradients")
