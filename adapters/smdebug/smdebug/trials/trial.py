"""Trial: a run's steps, tensors and collections, as programs of smdebug's ask for them."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, Union

import trainwarden
from trainwarden.errors import NotFound
from trainwarden.notebook.trial_card import TrialCard

from ..core.modes import ModeKeys, core_mode
from ..core.tensor import Array, Tensor
from ..core.utils import flatten, match_inc
from ..exceptions import TensorUnavailable
from .collections import TrialCollections
from .step_range import StepRange
from .trial_steps import TrialSteps

if TYPE_CHECKING:
    from ..core.collection import Collection

Patterns = Union[str, "list[Any]"]


class Trial(TrialSteps):
    """A read handle on a run. create_trial() makes one.

    Steps are steps of `mode`; with the default, ModeKeys.GLOBAL, global steps. While the training runs, each question
    looks for new data first, unless dynamic_refresh is False.

    Attributes:
        name, path: as given to create_trial().
        source: the same run as a trainwarden.Trial.
        dynamic_refresh: look for new data when asked; no_refresh() turns it off for a while.
        cache: keep the values that were read.
        range_steps: (begin, end), the global steps that the trial knows, or None.
    """

    def __init__(self, name: str, path: str, source: trainwarden.Trial, steps: StepRange, cache: bool):
        super().__init__(path, source, steps)
        self.name = name
        self.trial_dir = path
        self.cache = cache
        self._collections = TrialCollections(source)
        self._tensors: dict[str, Tensor] = {}

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} name={self.name}, path={self.path}, steps={self.steps()}, "
            f"collections={list(self.collections())}, tensor_names={self.tensor_names()}>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The state of the run, in a notebook that draws; the text is unchanged."""
        bundle = TrialCard(self.source)._repr_mimebundle_(include, exclude)
        return {**bundle, "text/plain": repr(self)} if "text/plain" in bundle else bundle

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trial) and (self.name, self.path) == (other.name, other.path)

    # Tensors.

    def tensor(self, tname: str) -> Tensor:
        """TensorUnavailable when there is none of that name."""
        if not self.has_tensor(tname):
            near = difflib.get_close_matches(tname, self.source.tensor_names(), n=1)
            raise TensorUnavailable(tname, hint=f'the nearest name is "{near[0]}"' if near else "")
        if tname not in self._tensors:
            self._tensors[tname] = Tensor(tname, self, self.cache)
        return self._tensors[tname]

    def has_tensor(self, tname: str) -> bool:
        if not self._has_tensor(tname):
            self.maybe_refresh(tname)
        return self._has_tensor(tname)

    def _has_tensor(self, tname: str) -> bool:
        known = self.source.has_tensor(tname)
        return known and (self._range.is_all or tname in self._names_at(None, ModeKeys.GLOBAL))

    def tensor_names(
        self,
        show_prefixed_tensors: bool = False,
        *,
        step: int | None = None,
        mode: ModeKeys = ModeKeys.GLOBAL,
        regex: Patterns | None = None,
        collection: str | Collection | None = None,
    ) -> list[str]:
        """Names, sorted: of all tensors, of those at a step, of those in a mode.

        Arguments:
            step: a global step, or a step of `mode`.
            regex: a pattern (`re`, found anywhere in the name), or a list of which one is.
            collection: the name of a collection, or one.
            show_prefixed_tensors: without effect.

        Raises:
            KeyError: there is no such mode, or the mode has no such step.
            ValueError: both regex and collection are given.
        """
        self.maybe_refresh()
        if regex is not None and collection is not None:
            raise ValueError("expected regex or collection, found both")
        names = self._names_at(step, mode)
        if regex is not None:
            patterns = [re.compile(pattern) for pattern in flatten([regex])]
            names = [name for name in names if match_inc(name, patterns)]
        elif collection is not None:
            members = self._collections.members(collection)
            names = [name for name in names if name in members]
        if not names and (regex or collection):
            self.logger.warning("no tensor was saved of %s", regex or f"the collection {collection}")
        return names

    def _names_at(self, step: int | None, mode: ModeKeys) -> list[str]:
        if step is None and not self._range.is_all:
            steps = self.within_range(self.source.steps(core_mode(mode), include_incomplete=True), mode)
            return sorted({name for known in steps for name in self._names_at(known, mode)})
        core = None if mode is ModeKeys.GLOBAL else core_mode(mode)
        try:
            names = self.source.tensor_names(mode=core, step=step)
        except NotFound as unknown:
            if mode is ModeKeys.GLOBAL:
                return []
            raise KeyError(str(unknown)) from unknown
        if core is not None and mode not in self.modes():
            raise KeyError(f"no step of mode {mode.name}; the run has {[known.name for known in self.modes()]}")
        return names

    # Collections.

    def collections(self) -> dict[str, Collection]:
        """By name."""
        self.maybe_refresh()
        return self._collections.all()

    def collection(self, coll_name: str) -> Collection:
        """An empty one when there is none of that name."""
        return self._collections.get(coll_name)

    # What went into a model and what came out of it.

    def inputs(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[Array]:
        """Values of the collection "inputs" at the step, in the order of the numbers at the ends of their names."""
        return self._values_in_order(step, mode, self.tensor_names(step=step, mode=mode, collection="inputs"))

    def labels(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[Array]:
        return self._values_in_order(step, mode, self.tensor_names(step=step, mode=mode, regex="labels*"))

    def predictions(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> list[Array]:
        return self._values_in_order(step, mode, self.tensor_names(step=step, mode=mode, regex="predictions*"))

    def _values_in_order(self, step: int, mode: ModeKeys, names: list[str]) -> list[Array]:
        return [self.tensor(name).value(step, mode) for name in sorted(names, key=_number_at_end)]


def _number_at_end(name: str) -> int:
    found = re.search(r"_(\d+)$", name)
    return int(found.group(1)) if found else 0
