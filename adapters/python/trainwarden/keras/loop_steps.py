"""Steps of loops of one's own: updates that ran eagerly, and calls of compiled functions that have some."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Optional

from .. import faults
from .collecting import EVERYTHING, Collector, collecting
from .functions import Parts
from .names import ModelNames
from .optimizers import learning_rate_of, variables_of
from .vetoing import Held, Veto, scales_of
from .whole_loops import LoopStep

_NOTHING: Parts = frozenset()


class _Optimizers:
    """All of a loop, as one."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    @property
    def variables(self) -> list[Any]:
        return [variable for optimizer in self.all for variable in variables_of(optimizer)]

    @property
    def learning_rate(self) -> Any:
        return learning_rate_of(self.all[0])


class Weights:
    """In the place of a model: what optimizers of such loops update."""

    name = ""
    package = "keras"  # that its optimizers are of
    stop_training = False

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self._optimizers = _Optimizers()

    @property
    def trainable_variables(self) -> list[Any]:
        return self.variables

    @property
    def optimizers(self) -> list[Any]:
        return self._optimizers.all

    @property
    def optimizer(self) -> Optional[_Optimizers]:
        return self._optimizers if self._optimizers.all else None

    def add(self, optimizer: Any, variables: list[Any]) -> bool:
        """True: there are new ones."""
        known = {id(each) for each in self.variables}
        new = [each for each in variables if id(each) not in known]
        self.variables += new
        if all(each is not optimizer for each in self._optimizers.all):
            self._optimizers.all.append(optimizer)
        return bool(new)

    def _flatten_layers(self, include_self: bool = True, recursive: bool = True) -> list[Any]:
        return []


class _Step:
    """What Session.run() runs. What can be handed out of it is learnt while it runs."""

    kind = "train"
    gives_logs = False

    def __init__(self, weights: Weights) -> None:
        self.model: Any = weights
        self.learnt: Optional[dict[str, tuple[str, ...]]] = None
        self.has_news = False

    def _learn(self, collector: Collector) -> None:
        self.learnt = {**(self.learnt or {}), **collector.collections}
        self.has_news = True


class UpdateStep(_Step):
    """Updates of an eager loop, with what was found in them: they have run already."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.learnt = {}
        self.losses = 0
        self._found: dict[str, Any] = {}

    def add(self, collector: Collector, has_new_weights: bool) -> None:
        self._found.update(collector.found)
        self.losses = collector.losses
        if has_new_weights:
            self._learn(collector)

    def learn(self, collector: Collector) -> None:
        """Before it is added, if somebody wants to know what was found so far."""
        if not collector.collections.keys() <= (self.learnt or {}).keys():
            self._learn(collector)

    def own(self, *args: Any) -> None:
        self._found, self.losses = {}, 0

    def hold(self, args: Any) -> None:
        return None  # who might veto it was asked before

    def call(
        self, args: Any, names: ModelNames, parts: Optional[Parts], veto: Optional[Veto] = None
    ) -> tuple[None, dict[str, Any]]:
        found = self._found
        self.own()
        return None, found


class CompiledStep(_Step):
    """Calls of a tf.function that has updates in it, and of its twins."""

    def __init__(self, function: Any, original: Callable[..., Any], weights: Weights, backend: Any) -> None:
        super().__init__(weights)
        self._function: Callable[[], Any] = weakref.ref(function)
        self._original = original
        self._backend = backend
        self._twins: dict[Parts, Any] = {}
        self.trains: Optional[bool] = None  # None: it was never called
        self.loop: Optional[LoopStep] = None  # where it trains in a loop within it
        self._is_fixed = False  # it has begun a stream of random numbers
        self._resources: dict[int, Any] = {}  # of the variables that are read or written in it

    def own(self, *args: Any) -> Any:
        positional, by_name = args
        return self._original(self._function(), *positional, **by_name)

    def hold(self, args: Any) -> Held:
        scales = {id(each) for each in self._backend.resources_of(scales_of(self.model.optimizers))}
        kept = [each for each in self._resources.values() if id(each) not in scales]
        return self._backend.hold_resources(kept)  # type: ignore[no-any-return]

    def call(
        self, args: Any, names: ModelNames, parts: Optional[Parts], veto: Optional[Veto] = None
    ) -> tuple[Any, dict[str, Any]]:
        twin = self._twins.get(EVERYTHING) if self._is_fixed else self._twins.get(_NOTHING if parts is None else parts)
        if twin is None and parts is not None:
            twin = self.twin(names, parts, *args)
        if twin is None:
            return self.own(*args), {}
        if veto is not None:
            veto.begin()
        known = len(self._resources)
        result, found = self._original(twin, *args[0], **args[1])
        if veto is not None and len(self._resources) > known:  # it was traced anew, for other arguments
            veto.give_up()
        return result, dict(found)

    def twin(
        self, names: ModelNames, parts: Parts, args: tuple[Any, ...], kwargs: dict[str, Any],
        rings: Optional[Callable[[], Any]] = None,
    ) -> Any:  # fmt: skip
        """Traced, and not yet run. None: it cannot be, or nothing trains in it but in loops. `rings`: for each trace,
        what keeps what is found there."""
        try:
            twin, collectors = self._traced(names, parts, args, kwargs, rings)
        except Exception as error:
            faults.report("trace a training step of one's own with what it is to hand out", error)
            self.trains = False
            return None
        collector = collectors[-1]
        self.trains = bool(collector.updated)
        if not self.trains:
            if collector.updated_inside:
                self.loop = self._loop(twin, collectors)
            return None
        for optimizer, variables in collector.updated:
            self.model.add(optimizer, variables)
        self._is_fixed = self._is_fixed or collector.draws
        self._learn(collector)
        self._twins[parts] = twin
        return twin

    def _loop(self, twin: Any, collectors: list[Collector]) -> LoopStep:
        def call_twin(args: Any) -> Any:
            return self._original(twin, *args[0], **args[1])[0]

        keeps = collectors[-1].rings is not None
        return LoopStep(self.model, lambda args: self.own(*args), call_twin if keeps else None, collectors)

    def _traced(
        self, names: ModelNames, parts: Parts, args: Any, kwargs: Any, rings: Optional[Callable[[], Any]]
    ) -> tuple[Any, list[Collector]]:
        """A function that gives what was found beside its result; a collector for each time that it was traced."""
        function = self._function()
        inside = function._python_function
        collectors: list[Collector] = []

        def with_found(*args: Any, **kwargs: Any) -> Any:
            kept = None if rings is None else rings()
            collectors.append(Collector(None, names, parts, self._backend, rings=kept))
            with collecting(collectors[-1]):
                result = inside(*args, **kwargs)
            collectors[-1].draws = self._backend.draws_here()
            self._resources.update((id(each), each) for each in self._backend.resources_here())
            return result, dict(collectors[-1].found)

        twin = function._clone(functools.wraps(inside)(with_found))
        self._backend.set_apart(twin)
        twin.get_concrete_function(*args, **kwargs)
        return twin, collectors
