"""Functions: what Keras calls for each batch, as the program's own and as twins that hand out what is computed inside.

A twin is made as Keras makes its own function, of a step that picks up. It is another compiled function over the same
variables: the program's own stays as it is, and runs where nothing is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, Optional, Protocol

from .. import faults
from .collecting import ACTIVATIONS, Collector, collecting
from .names import ModelNames
from .vetoing import Held, Veto, make_variables

Parts = frozenset[str]
_NOTHING: Parts = frozenset()


class Followed(Protocol):
    """What a session follows."""

    kind: str  # "train", "test" or "predict"
    model: Any
    learnt: Optional[dict[str, tuple[str, ...]]]  # names and collections of all that it can hand out; None: not known
    has_news: bool  # of what it learnt, or of the model
    gives_logs: bool  # its result: the model's metrics

    def own(self, *args: Any) -> Any:
        """The program's own."""


class FollowedStep(Followed, Protocol):
    """What a session runs as a step."""

    def call(
        self, args: tuple[Any, ...], names: ModelNames, parts: Optional[Parts], veto: Optional[Veto] = None
    ) -> tuple[Any, dict[str, Any]]:
        """The result of the step, and what was handed out of it; the more of `parts` the better, None: nothing. Where
        it hands out something, `veto` begins before the step does."""

    def hold(self, args: tuple[Any, ...]) -> Optional[Held]:
        """What a call with these arguments will change. None: it cannot be taken back."""


class Twin:
    """A function that hands out these parts."""

    def __init__(self, function: Callable[..., Any], step: CapturingStep) -> None:
        self.function = function
        self.step = step
        self.is_ready = False  # it has been traced


class CapturingStep:
    """Stands in for a model's train_step(), test_step() or predict_step() while it is traced."""

    def __init__(self, kind: str, original: Any, model: Any, names: ModelNames, parts: Parts, backend: Any) -> None:
        self.kind = kind
        self.original = original
        self._model = model
        self._names = names
        self._parts = parts
        self._backend = backend
        self.collections: dict[str, tuple[str, ...]] = {}  # of what it hands out, by name
        self.draws = False  # random numbers of a stream that is the compiled function's own

    def __call__(self, *args: Any) -> Any:
        replicas = self._backend.replicas()
        parts = self._parts if replicas == 1 else self._parts - {ACTIVATIONS}  # each replica has its own
        collector = Collector(self._model, self._names, parts, self._backend, replicas)
        with collecting(collector):
            result = self.original(*args)
        self.draws = self.draws or self._backend.draws_here()
        return self._handed_out(result, collector)

    def _handed_out(self, result: Any, collector: Collector) -> Any:
        try:
            collector.settle_loss()
            handed = self._backend.hand_out(self.kind, result, collector)
        except Exception as error:
            faults.report("hand out what a step of Keras computes", error)
            return result
        self.collections.update(collector.collections)
        return handed


class StepFunction:
    """One of a model's functions. Calls of it are steps of the session."""

    gives_logs = True

    def __init__(self, kind: str, model: Any, own: Callable[..., Any], backend: Any, run: Callable[..., Any]) -> None:
        self.kind = kind
        self.model = model
        self.learnt: Optional[dict[str, tuple[str, ...]]] = None  # names and collections of all that it can hand out
        self.has_news = False  # of what it learnt, or of the model
        self._plain = own
        self._backend = backend
        self._run = run
        self._twins: dict[Parts, Twin] = {}
        self._make: Optional[Callable[[CapturingStep], Any]] = None
        self._only: Optional[Twin] = None  # that has begun a stream of random numbers
        self._is_broken = False
        self.spent_ns = 0  # by what ran beside the last call

    def made_by(self, make: Callable[[CapturingStep], Any]) -> StepFunction:
        """`make` makes the function of a step that stands in for the model's own."""
        self._make = make
        return self

    def __call__(self, *args: Any) -> Any:
        return self._run(self, args)

    def own(self, *args: Any) -> Any:
        """The model's own; or the twin that has begun a stream of random numbers, and goes on with it."""
        if self._only is None or self._is_broken:
            return self._plain(*args)
        return self._call_twin(self._only, args, None)[0]

    def hold(self, args: tuple[Any, ...]) -> Optional[Held]:
        if not make_variables(self.model):
            faults.say_once(f"the first step of {self.model.name} cannot be vetoed: what it trains is made in it")
            return None
        return self._backend.hold(self.model, args)  # type: ignore[no-any-return]

    def call(
        self, args: tuple[Any, ...], names: ModelNames, parts: Optional[Parts], veto: Optional[Veto] = None
    ) -> tuple[Any, dict[str, Any]]:
        """The result of the step, and what its twin handed out.

        Without parts the model's own function runs; or the twin that hands out no more than the loss, where there is
        one: each function is compiled by itself, and that takes seconds.
        """
        self.spent_ns = 0
        if self._backend.runs_beside(self._plain):
            return self._call_beside(args, names, parts, veto)
        twin = self._only or self._twins.get(_NOTHING if parts is None else parts) or self._twin(names, parts)
        if twin is None or self._is_broken:
            return self._plain(*args), {}
        return self._call_twin(twin, args, veto)

    def _call_beside(
        self, args: tuple[Any, ...], names: ModelNames, parts: Optional[Parts], veto: Optional[Veto]
    ) -> tuple[Any, dict[str, Any]]:
        """The model's own function makes the step. For the loss alone nothing else runs."""
        found: dict[str, Any] = {}
        twin = (self._twins.get(parts) or self._twin(names, parts)) if parts else None
        if twin is not None and not self._is_broken:
            found = self._found_beside(twin, args)
        if self.learnt is None and self._is_broken:
            self.learnt, self.has_news = {names.of_loss("loss"): ("losses",)}, True
        loss = None if parts is None or self.kind == "predict" else self._backend.tracked_loss(self.model, args)
        if veto is not None:
            veto.begin()
        result = self._plain(*args)
        if loss is not None and names.of_loss("loss") not in found:
            found.update({names.of_loss("loss"): value for value in [loss.value(result[1])] if value is not None})
        return result, found

    def _found_beside(self, twin: Twin, args: tuple[Any, ...]) -> dict[str, Any]:
        try:
            with standing_in(self.model, f"{self.kind}_step", twin.step):
                if not twin.is_ready and not twin.function.is_possible(args):  # type: ignore[attr-defined]
                    return self._give_up_beside()
                twin.is_ready = True
                found: dict[str, Any] = twin.function(*args)
        except Exception as error:
            self._give_up(error)
            return {}
        self.spent_ns = twin.function.spent_ns  # type: ignore[attr-defined]
        self._learn(twin)
        return found

    def _give_up_beside(self) -> dict[str, Any]:
        self._is_broken = True
        step = f"the {self.kind} step of {self.model.name}"
        faults.say_once(f"tensors within {step} are not captured: it calls functions of the program's")
        return {}

    def _call_twin(self, twin: Twin, args: tuple[Any, ...], veto: Optional[Veto]) -> tuple[Any, dict[str, Any]]:
        with standing_in(self.model, f"{self.kind}_step", twin.step):
            result = self._run_twin(twin, args, veto) if twin.is_ready else self._run_first(twin, args, veto)
        if self._is_broken:
            return result, {}
        if self.kind == "train":
            self._backend.show_compiled(self.model, twin.function)
        self._learn(twin)
        if twin.step.draws:
            self._only = twin
        return self._backend.take(self.kind, result)  # type: ignore[no-any-return]

    def _run_twin(self, twin: Twin, args: tuple[Any, ...], veto: Optional[Veto]) -> Any:
        if veto is not None:
            veto.begin()
        return twin.function(*args)

    def _run_first(self, twin: Twin, args: tuple[Any, ...], veto: Optional[Veto]) -> Any:
        """The result of the twin; that of the model's own function, on the same batch, where the twin cannot be traced.

        What fails in a step that runs is the program's, as it would be without us.
        """
        twin.is_ready = True
        batches = self._backend.batches_of_generator(args, self.model)
        if batches is not None:
            try:
                return self._run_twin(twin, (iter(batches),), veto)
            except Exception as error:
                if self._backend.was_running(error, self.model):
                    raise
                self._give_up(error)
                args = (iter(batches),)
        else:
            try:
                self._backend.trace_only(twin.function, args)
            except Exception as error:
                self._give_up(error)
            else:
                return self._run_twin(twin, args, veto)
        with standing_in(self.model, f"{self.kind}_step", twin.step.original):
            return self._plain(*args)

    def _give_up(self, error: Exception) -> None:
        self._is_broken = True
        faults.report(f"trace the {self.kind} step of {self.model.name} with what it is to hand out", error)

    def _twin(self, names: ModelNames, parts: Optional[Parts]) -> Optional[Twin]:
        if parts is None or self._is_broken:
            return None
        made = self._make_twin(names, parts)
        if made is not None:
            self._twins[parts] = made
        return made

    def _make_twin(self, names: ModelNames, parts: Parts) -> Optional[Twin]:
        try:
            original = getattr(self.model, f"{self.kind}_step")
            step = CapturingStep(self.kind, original, self.model, names, parts, self._backend)
            with standing_in(self.model, f"{self.kind}_step", step):
                assert self._make is not None
                if self._backend.runs_beside(self._plain):
                    return Twin(self._backend.beside(step), step)
                function = self._make(step)
                self._backend.set_apart(function)
                return Twin(function, step)
        except Exception as error:
            self._is_broken = True
            faults.report(f"make a twin of the {self.kind} function of {self.model.name}", error)
            return None

    def _learn(self, twin: Twin) -> None:
        if self.learnt is None or len(twin.step.collections) > len(self.learnt):
            self.learnt = dict(twin.step.collections)
            self.has_news = True


@contextmanager
def standing_in(model: Any, name: str, value: Any) -> Iterator[None]:
    """As an attribute of the model itself. Keras looks up a step when it makes a function or later, when it traces."""
    attributes = model.__dict__
    missing = object()
    before = attributes.get(name, missing)
    attributes[name] = value
    try:
        yield
    finally:
        if before is missing:
            attributes.pop(name, None)
        else:
            attributes[name] = before
