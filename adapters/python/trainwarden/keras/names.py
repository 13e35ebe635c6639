"""Names: what the variables and layers of a model are called in the run.

Keras numbers layers that have no name of their own through the whole process: the same model, made again in a notebook,
has other names. Here the numbers of each class begin anew in each model, in the order that Keras gave them.
"""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Iterable
from typing import Any, Optional

_BIASES = ("bias", "beta")
_RANDOM = "seed_generator_state"
_PACKAGES = ("keras", "tf_keras")


class ModelNames:
    """Of one model. `prefix` stands before each name, to tell several models of a process apart."""

    def __init__(self, model: Any, prefix: str = "") -> None:
        self._model = weakref.ref(model)
        self._prefix = prefix
        self._model_name = str(model.name)
        self._by_path: dict[str, int] = {}  # the first layer of each path
        self.look()

    def look(self) -> None:
        """Again, when the model has got more variables: some make them when they are first called."""
        model = self._model()
        if model is None:
            return
        self._layers = _renumbered(model)
        self._paths = _paths_of_layers(model)
        self._trained = {id(each) for each in _list_of(model, "trainable_variables")}
        self.variables = self._named(_list_of(model, "variables"))
        self._by_id = {id(each): name for each, name in self.variables}
        pairs = [(path_of(each), self._of_path(path_of(each), "")) for each, _ in self.variables]
        pairs += [(path.replace("/", "_"), name.replace("/", "_")) for path, name in pairs]  # Keras 3 writes it so
        self._in_optimizers = sorted(pairs, key=lambda pair: -len(pair[0]))

    def _named(self, variables: Iterable[Any]) -> list[tuple[Any, str]]:
        """Models within a model of Keras 2 may have the same names: the second variable of a name has _1 behind it."""
        named: dict[str, Any] = {}
        for variable in variables:
            name = of_path = self._of_path(path_of(variable))
            for number in itertools.count(1):
                if named.setdefault(name, variable) is variable:
                    break
                name = f"{of_path}_{number}"
        return [(variable, name) for name, variable in named.items()]

    def same_as(self, other: ModelNames) -> bool:
        """Has the other model the same names with the same shapes? Then it is this one, made again."""
        return self._shapes() == other._shapes()

    def overlaps(self, other: ModelNames) -> bool:
        return not set(self._by_id.values()).isdisjoint(other._by_id.values())

    def of_variable(self, variable: Any) -> str:
        if id(variable) not in self._by_id:
            self.look()
        return self._by_id.get(id(variable)) or self._of_path(path_of(variable))

    def of_layer(self, layer: Any) -> str:
        """By its own path; where a layer of another model within this one has that, by those that hold it."""
        held = self._paths.get(id(layer), str(layer.name))
        path = str(getattr(layer, "path", None) or held)
        if self._by_path.setdefault(path, id(layer)) != id(layer):
            path = held
        return self._of_path(path)

    def is_trained(self, variable: Any) -> bool:
        return id(variable) in self._trained

    def collections_of(self, variable: Any) -> Optional[tuple[str, ...]]:
        """None: the state of random numbers, which is no weight."""
        if path_of(variable).rpartition("/")[2] == _RANDOM:
            return None
        return (kind_of_weight(variable) if self.is_trained(variable) else "buffers",)

    def of_loss(self, name: str) -> str:
        return self._prefix + name

    def of_state(self, variable: Any) -> str:
        """Of a variable of an optimizer: "optimizer_state/adam/dense_kernel_momentum", of Keras 2
        "optimizer_state/Adam/m/dense/kernel"."""
        path = path_of(variable)
        for written, name in self._in_optimizers:
            if written in path:
                path = path.replace(written, name)
                break
        return f"optimizer_state/{self._prefix}{path}"

    def _shapes(self) -> dict[str, tuple[Any, ...]]:
        return {name: tuple(variable.shape) for variable, name in self.variables}

    def _of_path(self, path: str, prefix: Optional[str] = None) -> str:
        parts = path.split("/")
        if len(parts) > 1 and parts[0] == self._model_name:
            parts = parts[1:]
        return (self._prefix if prefix is None else prefix) + "/".join(self._layers.get(part, part) for part in parts)


def path_of(variable: Any) -> str:
    """Of a variable of Keras, or of TensorFlow alone."""
    return str(getattr(variable, "path", None) or str(variable.name).partition(":")[0])


def kind_of_weight(variable: Any) -> str:
    """The collection of one that is trained."""
    return "biases" if path_of(variable).rpartition("/")[2] in _BIASES else "weights"


def package_of(thing: Any) -> str:
    """Of a model or an optimizer: "keras", or "tf_keras"."""
    roots = (each.__module__.partition(".")[0] for each in type(thing).__mro__)
    return next((root for root in roots if root in _PACKAGES), getattr(thing, "package", _PACKAGES[0]))


def _list_of(model: Any, name: str) -> list[Any]:
    """Empty for a model that has not been built, of which Keras 2 does not give what there will be."""
    try:
        return list(getattr(model, name))
    except ValueError:
        return []


def _paths_of_layers(model: Any) -> dict[int, str]:
    """By the layers that hold a layer, for those that have no path of their own: all of Keras 2, some of 3."""
    paths: dict[int, str] = {}
    waiting = [(layer, "") for layer in _held_by(model)]
    while waiting:
        layer, prefix = waiting.pop(0)
        if id(layer) not in paths:
            paths[id(layer)] = prefix + str(layer.name)
            waiting += [(each, f"{paths[id(layer)]}/") for each in _held_by(layer)]
    return paths


def _held_by(layer: Any) -> list[Any]:
    return [each for each in layer._flatten_layers(include_self=False, recursive=False) if each is not layer]


def _renumbered(model: Any) -> dict[str, str]:
    """By the name that Keras gave. Layers that the program named keep theirs."""
    numbered: dict[str, dict[int, str]] = {}
    for layer in model._flatten_layers(include_self=False):
        stem = _snake_case(type(layer).__name__)
        match = re.match(rf"^{re.escape(stem)}(?:_(\d+))?$", str(layer.name))
        if match is not None:
            numbered.setdefault(stem, {})[int(match.group(1) or 0)] = str(layer.name)
    names = {}
    for stem, by_number in numbered.items():
        for rank, number in enumerate(sorted(by_number)):
            names[by_number[number]] = stem if rank == 0 else f"{stem}_{rank}"
    return names


def _snake_case(name: str) -> str:
    """As Keras makes a name of a class."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
