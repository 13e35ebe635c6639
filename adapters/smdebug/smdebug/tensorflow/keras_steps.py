"""What is computed inside a step of Keras, on its way to a hook of smdebug's: gradients, and what layers give and take.

Stands in for the session of trainwarden.keras, whose twins of compiled steps hand all of that out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional, Protocol

from trainwarden import faults
from trainwarden._owners import is_owned, owning
from trainwarden.keras.collecting import ACTIVATIONS, GRADIENTS

from ..core.collection import Collection, CollectionKeys

_PREFIX = "gradient/"
# The losses of batches are not smdebug's: it has the means that Keras says.
_OF_ENGINE = {
    "gradients": CollectionKeys.GRADIENTS,
    "inputs": CollectionKeys.LAYERS,
    "outputs": CollectionKeys.LAYERS,
    "batch_inputs": CollectionKeys.INPUTS,
    "labels": CollectionKeys.OUTPUTS,
    "predictions": CollectionKeys.OUTPUTS,
}
_FROM_OUTSIDE = {
    CollectionKeys.WEIGHTS, CollectionKeys.BIASES, CollectionKeys.LOSSES, CollectionKeys.METRICS,
    CollectionKeys.SM_METRICS, CollectionKeys.OPTIMIZER_VARIABLES,
}  # fmt: skip


class StepHook(Protocol):
    """The hook, as a step sees it."""

    is_in_batch: bool
    is_saving: bool

    def saved_collections(self) -> Iterable[Collection]:
        """Those that are saved, at whichever steps."""

    def wants_found(self, names: Mapping[str, str]) -> bool:
        """Is any of these wanted at this step? Collections by name."""

    def save_found(self, values: Mapping[str, Any], names: Mapping[str, str]) -> None:
        """Saves those of the values that are wanted."""


class Names:
    """As smdebug names what is inside. Stands in for trainwarden's names of a model."""

    def of_variable(self, variable: Any) -> str:
        return name_of(variable).partition(":")[0]

    def of_layer(self, layer: Any) -> str:
        return str(layer.name)

    def of_loss(self, name: str) -> str:
        return name


def name_of(variable: Any) -> str:
    """With the number of the output behind it, which those of Keras 3 do not have."""
    path = getattr(variable, "path", None)
    return str(variable.name) if path is None else f"{path}:0"


def names_by_collection(learnt: Optional[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, str]]:
    """smdebug's name and collection, by the names under which the engine hands tensors out."""
    named = {}
    for name, collections in (learnt or {}).items():
        collection = _OF_ENGINE.get(collections[0] if collections else "")
        if collection == CollectionKeys.GRADIENTS:
            named[name] = gradient_name(name.removeprefix(_PREFIX)), collection
        elif collection is not None:
            named[name] = name, collection
    return named


def gradient_name(variable: str) -> str:
    return f"gradients/{variable}Grad"


class KerasSteps:
    """Of one hook. Steps that its callback has not begun are left alone."""

    def __init__(self, hook: StepHook) -> None:
        self._hook: Optional[StepHook] = hook
        self._names = Names()

    def run(self, function: Any, args: tuple[Any, ...]) -> Any:
        """A step of a model."""
        hook = self._hook
        if hook is None or not hook.is_in_batch or is_owned():
            return function.own(*args)
        parts = self._parts(hook, function)
        with owning():
            result, found = function.call(args, self._names, parts)
        if found and hook.is_saving:
            self._save(hook, found, function.learnt)
        return result

    def names_of(self, model: Any) -> None:
        return None  # loops of one's own have their tapes wrapped

    def start_anew(self) -> None:
        """In a forked child: the run is its parent's."""
        self._hook = None

    @faults.guarded("begin a step of Keras for smdebug's hook")
    def _parts(self, hook: StepHook, function: Any) -> Optional[frozenset[str]]:
        """What is handed out of this step; None: nothing.

        What may ever be wanted is in the first step already: a function that draws random numbers begins a stream, and
        goes on in that form.
        """
        parts = _asked_for(hook.saved_collections())
        if function.kind != "train":
            parts -= {GRADIENTS}
        if function.learnt is None:
            return frozenset(parts) or None
        if not hook.is_saving:
            return None
        named = names_by_collection(function.learnt).values()
        return frozenset(part for part in parts if hook.wants_found(_names_in(named, part))) or None

    @faults.guarded("save what a step of Keras computes")
    def _save(self, hook: StepHook, found: Mapping[str, Any], learnt: Any) -> None:
        named = names_by_collection(learnt)
        values = {named[name][0]: value for name, value in found.items() if name in named}
        hook.save_found(values, dict(named.values()))


def _names_in(named: Iterable[tuple[str, str]], part: str) -> dict[str, str]:
    are_gradients = part == GRADIENTS
    return {name: of for name, of in named if (of == CollectionKeys.GRADIENTS) == are_gradients}


def _asked_for(collections: Iterable[Collection]) -> set[str]:
    parts = set()
    for collection in collections:
        if collection.name == CollectionKeys.GRADIENTS:
            parts.add(GRADIENTS)
        elif collection.name in (CollectionKeys.LAYERS, CollectionKeys.INPUTS, CollectionKeys.OUTPUTS):
            parts.add(ACTIVATIONS)
        elif collection.name not in _FROM_OUTSIDE and collection.include_regex:
            parts |= {GRADIENTS, ACTIVATIONS}  # a pattern may mean anything
    return parts
