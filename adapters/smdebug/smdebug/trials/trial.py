"""Trial: a run's steps, tensors and collections, as programs of smdebug's ask for them."""

from __future__ import annotations

import difflib
import re
import time
from typing import TYPE_CHECKING, Any, Union

import trainwarden
from trainwarden.errors import NotFound, Unavailable

from ..analysis.utils import refresh
from ..core.logger import get_logger
from ..core.modes import ModeKeys, core_mode
from ..core.tensor import Array, StepState, Tensor
from ..core.utils import flatten, match_inc
from ..exceptions import NoMoreData, StepNotYetAvailable, StepUnavailable, TensorUnavailable
from .collections import TrialCollections
from .ended import EndOfTraining
from .step_range import StepRange
from .workers import WorkerNames

if TYPE_CHECKING:
    from ..core.collection import Collection

Patterns = Union[str, "list[Any]"]

_POLL_INTERVAL_S = 0.05
_STATES = {state.name.replace("_", " ").lower(): state for state in StepState}


class Trial:
    """A read handle on a run. create_trial() makes one.

    Steps are steps of `mode`; with the default, ModeKeys.GLOBAL, global steps. While the training runs, each question
    looks for new data first, unless dynamic_refresh is False.

    Attributes:
        name, path: as create_trial() was told.
        source: the same run as a trainwarden.Trial.
        dynamic_refresh: look for new data when asked; no_refresh() turns it off for a while.
        cache: keep the values that were read.
        range_steps: (begin, end), the global steps that the trial knows, or None.
    """

    def __init__(self, name: str, path: str, source: trainwarden.Trial, steps: StepRange, cache: bool):
        self.name = name
        self.path = path
        self.trial_dir = path
        self.source = source
        self.logger = get_logger()
        self.dynamic_refresh = True
        self.cache = cache
        self.range_steps = None if steps.is_all else (steps.begin, steps.end)
        self._range = steps
        self._names = WorkerNames(source)
        self._ended = EndOfTraining(source)
        self._collections = TrialCollections(source)
        self._tensors: dict[str, Tensor] = {}

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} name={self.name}, path={self.path}, steps={self.steps()}, "
            f"collections={list(self.collections())}, tensor_names={self.tensor_names()}>"
        )

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trial) and (self.name, self.path) == (other.name, other.path)

    # Looking for new data.

    @property
    def loaded_all_steps(self) -> bool:
        """The training has ended, and the trial knows all that it left."""
        return self.source.loaded_all_steps

    def job_finished(self) -> bool:
        """Has the training ended?"""
        self.maybe_refresh()
        return self.loaded_all_steps

    def maybe_refresh(self, name: str | None = None) -> None:
        """Looks for new data, unless there can be none or dynamic_refresh is False."""
        if self.dynamic_refresh and not self.source.loaded_all_steps:
            self.refresh_data()

    def refresh_tensor(self, tname: str, steps: list[int] | None = None) -> None:
        """The same as refresh_data()."""
        self.refresh_data()

    def refresh_data(self) -> None:
        """Looks for new data. A passing fault of the storage is logged, and the next look may do better."""
        try:
            self.source.refresh()
        except Unavailable as fault:
            self.logger.warning("%s; trying again at the next look", fault)
            return
        self._ended.look()

    # Workers.

    @property
    def num_workers(self) -> int:
        """How many processes write the run."""
        return self.source.world_size

    def workers(self) -> list[str]:
        """Their names, sorted: "worker_0", ..."""
        self.maybe_refresh()
        return self._names.shown()

    def shown_worker(self, core_name: str) -> str:
        return self._names.shown_of(core_name)

    def core_worker(self, worker: str | None) -> str:
        """What trainwarden calls the worker; "" for None, the first that has the tensor."""
        return self._names.core_of(worker)

    # Steps.

    @property
    def last_complete_step(self) -> int:
        """The newest global step that all workers have written; -1 when there is none."""
        if self._range.is_all:
            return self.source.last_complete_step
        return max(self.within_range(self.source.steps(), ModeKeys.GLOBAL), default=-1)

    @property
    def last_index_token(self) -> str | None:
        """Where smdebug would go on reading: the index file of the last complete step's last worker."""
        step = self.last_complete_step
        if step < 0:
            return None
        return f"{self.path}/index/{step // 1000:09d}/{step:012d}_{self._names.shown()[-1]}.json"

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL, show_incomplete_steps: bool = False) -> list[int]:
        """The complete steps, rising; those that some workers have yet to write only when they are asked for."""
        self.maybe_refresh()
        return self.within_range(self.source.steps(core_mode(mode), include_incomplete=show_incomplete_steps), mode)

    def modes(self) -> list[ModeKeys]:
        """Those that the program has set."""
        return [ModeKeys[mode.name] for mode in self.source.modes if mode is not trainwarden.Mode.GLOBAL]

    def global_step(self, mode: ModeKeys, mode_step: int) -> int | None:
        """None when the mode has no such step."""
        if mode is ModeKeys.GLOBAL:
            return mode_step
        core, step = core_mode(mode), int(mode_step)
        found = self.source.global_step(core, step)
        if found is None:
            self.maybe_refresh()
            found = self.source.global_step(core, step)
        return found

    def mode_modestep(self, global_step: int) -> tuple[ModeKeys, int] | tuple[None, None]:
        """The mode of a global step and the number that it has there; (None, None) when it is not known."""
        step = int(global_step)
        if self.source.mode_of(step) is None:
            self.maybe_refresh()
        mode, mode_step = self.source.mode_of(step), self.source.mode_step_of(step)
        if mode is None or mode_step is None or step not in self._range:
            return None, None
        return ModeKeys[mode.name], mode_step

    def mode(self, global_step: int) -> ModeKeys | None:
        return self.mode_modestep(global_step)[0]

    def mode_step(self, global_step: int) -> int | None:
        return self.mode_modestep(global_step)[1]

    def has_passed_step(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> StepState:
        """Is the step there, may it still come, or will it never?"""
        self.maybe_refresh()
        core = core_mode(mode)
        if self.in_range(int(step), mode):
            return _STATES[self.source.step_state(int(step), core).value]
        passed = any(known > step for known in self.within_range(self.source.steps(core), mode))
        never = passed or self.loaded_all_steps
        return StepState.UNAVAILABLE if never else StepState.NOT_YET_AVAILABLE

    def wait_for_steps(self, required_steps: list[int], mode: ModeKeys = ModeKeys.GLOBAL) -> None:
        """Waits until each step is there.

        Raises:
            StepUnavailable: one was not saved.
            NoMoreData: the training has ended before one.
        """
        with refresh(self):
            for step in required_steps:
                while True:
                    state = self.has_passed_step(step, mode)
                    if state is StepState.AVAILABLE:
                        break
                    if state is StepState.UNAVAILABLE:
                        raise self._never(step, mode)
                    time.sleep(_POLL_INTERVAL_S)

    def expect_step(self, step: int, mode: ModeKeys) -> None:
        """Raises StepUnavailable or StepNotYetAvailable unless the step is there."""
        state = self.has_passed_step(step, mode)
        if state is StepState.UNAVAILABLE:
            raise StepUnavailable(step, mode, hint=self._saved_around(step, mode))
        if state is StepState.NOT_YET_AVAILABLE:
            raise StepNotYetAvailable(step, mode, hint=self._saved_around(step, mode))

    def _never(self, step: int, mode: ModeKeys) -> StepUnavailable | NoMoreData:
        known = self.steps(mode, show_incomplete_steps=True)
        if self.loaded_all_steps and (not known or step >= known[-1]):
            return NoMoreData(step, mode, known[-1] if known else -1)
        return StepUnavailable(step, mode, hint=self._saved_around(step, mode))

    def _saved_around(self, step: int, mode: ModeKeys) -> str:
        known = self.steps(mode, show_incomplete_steps=True)
        near = sorted(sorted(known, key=lambda other: abs(other - step))[:3])
        return f"the nearest saved: {', '.join(map(str, near))}" if near else "no step was saved yet"

    def in_range(self, step: int, mode: ModeKeys) -> bool:
        """Is the step one that this trial may know? Steps that the run does not have are in no doubt."""
        if self._range.is_all:
            return True
        global_step = step if mode is ModeKeys.GLOBAL else self.source.global_step(core_mode(mode), step)
        return global_step is None or global_step in self._range

    def within_range(self, steps: list[int], mode: ModeKeys) -> list[int]:
        return steps if self._range.is_all else [step for step in steps if self.in_range(step, mode)]

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
