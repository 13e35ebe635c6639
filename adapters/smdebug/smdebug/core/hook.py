"""BaseHook and CallbackHook: what the hooks of all frameworks have in common."""

from __future__ import annotations

import atexit
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Optional, TypeVar, Union

from ..exceptions import (
    InvalidCollectionConfiguration,
    SMDebugError,
    SMDebugTypeError,
    SMDebugValueError,
)
from .collection import Collection, CollectionKeys
from .collection_manager import CollectionManager
from .collection_plan import forms_of, plan, schedule_of
from .config_constants import DEFAULT_SAVED_COLLECTIONS, DEFAULT_WORKER_NAME
from .hook_utils import PathLike, get_tensorboard_dir, verify_and_get_out_dir
from .json_config import create_hook_from_json_config
from .logger import get_logger
from .metrics_file import MetricsFile
from .modes import ALLOWED_MODE_NAMES, ModeKeys, core_mode
from .preparing import is_wanted, prepare
from .recording import Place, Recording
from .reduction_config import ReductionConfig
from .save_config import SaveConfig, SaveConfigMode
from .state_store import State, StateStore
from .utils import flatten, match_inc

SaveConfigLike = Union[SaveConfig, SaveConfigMode, Mapping[Any, Any], None]
_AnyHook = TypeVar("_AnyHook", bound="BaseHook")


class BaseHook(ABC):
    """Decides what is saved at which step, and writes it into a run of trainwarden in out_dir.

    A step begins when the framework says so, and ends when the next one begins, or at close(): until then the program
    may save more. Readers see it from then on. Failures while training never raise into it. Only wrong usage raises:
    wrong arguments, and a collection without tensors at the first step.

    Arguments:
        out_dir: the folder to write to; one that holds a finished run is refused. `trainwarden run` overrides it.
        export_tensorboard, tensorboard_dir: also write for TensorBoard, into `out_dir`/tensorboard or that folder.
        dry_run: decide, and write nothing.
        reduction_config: for collections without one; None: whole tensors.
        save_config: for collections without one, a SaveConfig, SaveConfigMode or dict by mode; None: each 500th step.
        include_regex: patterns of tensors to save, in collection "default".
        include_collections: names of collections to save, besides those that always are.
        save_all: save every tensor.
        include_workers: "one": rank 0 alone writes, or "all".

    Raises:
        RuntimeError: out_dir is missing.
        SMDebugRuntimeError: out_dir holds a finished run.
        SMDebugTypeError, SMDebugValueError: an argument is wrong.
    """

    GRADIENT_PREFIX = "gradient/"
    SCALAR_PREFIX = "scalar/"

    def __init__(
        self,
        collection_manager: CollectionManager,
        default_include_collections: Iterable[str],
        init_step: int = 0,
        out_dir: Optional[PathLike] = None,
        export_tensorboard: bool = False,
        tensorboard_dir: Optional[PathLike] = None,
        dry_run: bool = False,
        reduction_config: Optional[ReductionConfig] = None,
        save_config: SaveConfigLike = None,
        include_regex: Optional[list[str]] = None,
        include_collections: Optional[list[str]] = None,
        save_all: bool = False,
        include_workers: str = "one",
    ) -> None:
        if include_workers not in ("one", "all"):
            raise SMDebugValueError(f'expected "one" or "all" as include_workers, found {include_workers!r}')
        self.out_dir = verify_and_get_out_dir(out_dir)
        self.tensorboard_dir = get_tensorboard_dir(export_tensorboard, tensorboard_dir, self.out_dir)
        self.dry_run = dry_run
        self.save_all_workers = include_workers == "all"
        self.chief_worker = DEFAULT_WORKER_NAME
        self.collection_manager = collection_manager
        self.save_config = SaveConfig.parse(save_config)
        self.save_config.merge_default_save_config(SaveConfig())
        self.reduction_config = reduction_config or ReductionConfig(save_raw_tensor=True)
        self.include_regex = include_regex
        self.save_all = save_all
        self.include_collections = self._included(include_collections, default_include_collections)
        self.prepared_collections = False
        self._collections_to_save: list[Collection] = []
        self.step = init_step
        self.mode = ModeKeys.GLOBAL
        self.mode_steps: dict[ModeKeys, int] = {ModeKeys.GLOBAL: init_step}
        self.init_step = init_step
        self.last_saved_step: Optional[int] = None
        self.custom_tensors_to_save: dict[str, tuple[Any, list[str]]] = {}
        self.logger = get_logger()
        self.is_saving = False  # something of the current step is wanted
        self._recording = Recording()
        self._metrics = MetricsFile.from_environment()
        self._states = StateStore()
        self._training_run = 0
        self._count_on()
        atexit.register(self.close)

    def _included(self, wanted: Optional[list[str]], always: Iterable[str]) -> list[str]:
        included = set(always) | set(flatten(wanted or []))
        if self.include_regex:
            self.collection_manager.get(CollectionKeys.DEFAULT).include(list(self.include_regex))
            included.add(CollectionKeys.DEFAULT)
        if self.save_all:
            self.collection_manager.get(CollectionKeys.ALL).include(".*")
            included.add(CollectionKeys.ALL)
        return sorted(included)

    @classmethod
    def create_from_json_file(cls: type[_AnyHook], json_file_path: Optional[PathLike] = None) -> _AnyHook:
        """The hook that a JSON file describes: this one, else the one that SMDEBUG_CONFIG_FILE_PATH names.

        Raises:
            FileNotFoundError: there is no such file.
            SMDebugValueError: it is wrong; the message says where.
        """
        return create_hook_from_json_config(cls, json_file_path)

    @classmethod
    def hook_from_config(cls: type[_AnyHook], json_config_path: Optional[PathLike] = None) -> _AnyHook:
        """An older name of create_from_json_file()."""
        return cls.create_from_json_file(json_config_path)

    # What the framework gives.

    @abstractmethod
    def _place_in_job(self) -> Place:
        """Rank and world size, as they are now."""

    @abstractmethod
    def _get_default_collections(self) -> Iterable[str]:
        """Collections that may be empty."""

    @abstractmethod
    def _save_any(self, tensor_id: int, value: Any) -> None:
        """Saves a tensor of the framework, or what NumPy takes."""

    @staticmethod
    def _scalar_of(value: Any) -> float:
        """SMDebugTypeError when it is no single number."""
        raise NotImplementedError

    # Collections.

    def get_collection(self, name: str, create: bool = True) -> Collection:
        return self.collection_manager.get(name, create=create)

    def get_collections(self) -> dict[str, Collection]:
        return self.collection_manager.get_collections()

    def add_collection(self, collection: Collection) -> None:
        """In place of the one of its name. SMDebugTypeError when it is no Collection."""
        if not isinstance(collection, Collection):
            raise SMDebugTypeError(f"expected a Collection, found {collection!r}")
        self.collection_manager.add(collection)

    def has_default_hook_configuration(
        self, default_saved_collections: Iterable[str] = tuple(DEFAULT_SAVED_COLLECTIONS)
    ) -> bool:
        """Are just these collections saved?"""
        if not self.prepared_collections:
            self._prepare_collections()
        return {collection.name for collection in self._collections_to_save} == set(default_saved_collections)

    has_default_configuration = has_default_hook_configuration

    def _prepare_collections(self) -> None:
        """Fixes what is saved. Raises what prepare() does."""
        self._collections_to_save = prepare(
            self.collection_manager.get_collections(),
            self.include_collections,
            self._get_default_collections(),
            self.save_config,
            self.reduction_config,
        )
        self.prepared_collections = True
        names = ", ".join(sorted(collection.name for collection in self._collections_to_save))
        self.logger.info("saving the collections %s to %s", names, self.out_dir)

    def _get_collections_to_save_for_step(self) -> set[Collection]:
        if not self.prepared_collections:
            raise InvalidCollectionConfiguration("the collections are prepared at the first step")
        step = self.mode_steps[self.mode]
        return {collection for collection in self._collections_to_save if is_wanted(collection, self.mode, step)}

    def _is_collection_being_saved_for_step(self, name: str) -> bool:
        return any(collection.name == name for collection in self._get_collections_to_save_for_step())

    def should_save_tensor_or_collection(self, tensor_name: str, collection_name: str) -> bool:
        """Would this tensor, as one of this collection, be saved at the current step?"""
        if not self.prepared_collections:
            return False
        wanted = self._get_collections_to_save_for_step()
        if any(collection.name == collection_name for collection in wanted):
            patterns = self.collection_manager.get(collection_name).include_regex
            return not patterns or match_inc(tensor_name, patterns)
        return any(match_inc(tensor_name, collection.include_regex) for collection in wanted)

    # Steps and modes.

    def set_mode(self, mode: ModeKeys) -> None:
        """Of the steps from the next one on. SMDebugValueError when it is no ModeKeys."""
        if not isinstance(mode, ModeKeys):
            raise SMDebugValueError(f"expected a mode out of {', '.join(ALLOWED_MODE_NAMES)}, found {mode!r}")
        self.mode = mode
        self.mode_steps.setdefault(mode, self.init_step)

    def _count_on(self) -> None:
        """Takes the step counts of the training that this one continues, if there was one."""
        last = self._states.last()
        if last is None:
            return
        self._training_run = last.training_run + 1
        self.last_saved_step = last.last_saved_step
        self.step = last.step
        self.mode_steps = {**last.mode_steps, ModeKeys.GLOBAL: last.step}
        self.logger.info("counting on from step %d, %s", self.step, self.mode_steps)

    def _keep_count(self) -> None:
        self._states.update(State(self._training_run, self.last_saved_step, self.step, self.mode_steps))

    def _begin_step(self) -> None:
        """A step begins, and the one before ends. Raises for wrong usage, at the first step, and when the training was
        asked to stop."""
        if self._recording.is_open:
            self._recording.end_step()
        else:
            self._open()
        self._keep_count()
        self.step += 1
        self.mode_steps[self.mode] += 1
        self.mode_steps[ModeKeys.GLOBAL] = self.step
        self.is_saving = self._recording.begin_step(core_mode(self.mode))

    def _open(self) -> None:
        if not self.prepared_collections:
            self._prepare_collections()
        keep = forms_of(self.reduction_config)
        options = {
            "collections": plan(
                self.collection_manager.get_collections(),
                [collection.name for collection in self._collections_to_save],
                histograms=self.tensorboard_dir is not None,
            ),
            "save": schedule_of(self.save_config),
            "keep": keep if any(keep.values()) else {"values": True},
            "include_workers": "all" if self.save_all_workers else "one",
            "dry_run": self.dry_run,
            "first_global_step": self.step + 1,
            "first_mode_steps": {
                core_mode(mode): step + 1 for mode, step in self.mode_steps.items() if mode is not ModeKeys.GLOBAL
            },
        }
        self._recording.open(self.out_dir, self._place_in_job(), options, self.tensorboard_dir)

    # Saving.

    def save_scalar(self, name: str, value: Any, sm_metric: bool = False, timestamp: Optional[float] = None) -> None:
        """Saves a number as `scalar/<name>` at the current step, independently of the save configs.

        Arguments:
            value: a number, or a tensor with one element.
            sm_metric: also to the folder that SAGEMAKER_METRICS_DIRECTORY names.
            timestamp: of the metric; seconds since 1970, by default now. A step of a run has the time of its own.

        Raises:
            SMDebugTypeError: it is no single number.
        """
        number, full_name = self._scalar_of(value), self.SCALAR_PREFIX + name
        self._recording.save_scalar(full_name, number)
        if sm_metric and self._metrics is not None:
            self._metrics.write(f"{full_name}_{self.mode.name}", number, self.mode_steps[self.mode], timestamp)

    def save_tensor(
        self,
        tensor_name: str,
        tensor_value: Any,
        collections_to_write: Union[str, list[str]] = CollectionKeys.DEFAULT,
    ) -> None:
        """Saves a tensor in these collections, which are created when missing, at the current step if it is saved.

        It is written when the framework's hook sees the next module or gradient: what is handed over before the forward
        pass belongs to the step that it begins. Until then it is held, not copied.
        """
        names = [collections_to_write] if isinstance(collections_to_write, str) else list(collections_to_write)
        _, before = self.custom_tensors_to_save.get(tensor_name, (None, []))
        self.custom_tensors_to_save[tensor_name] = (tensor_value, list(dict.fromkeys(before + names)))

    def _save_custom_tensors_post_step(self) -> None:
        """Writes what save_tensor() was given."""
        waiting, self.custom_tensors_to_save = self.custom_tensors_to_save, {}
        if not self.is_saving:
            return
        for name, (value, collections) in waiting.items():
            for collection in collections:
                self.collection_manager.get(collection).add_tensor_name(name)
            self._save_by_hand(name, value, collections)

    def _write_raw_tensor_simple(
        self, tensor_name: str, tensor_value: Any, tensor_ref: object = None, timestamp: Optional[float] = None
    ) -> None:
        """Saves a tensor, numbers or texts, in no collection, at the current step if it is saved; before the first
        step, at that. `tensor_ref` and `timestamp` are not used."""
        if self._recording.is_open:
            self._save_by_hand(tensor_name, tensor_value, [])
        else:
            self.custom_tensors_to_save[tensor_name] = (tensor_value, [])

    def _save_by_hand(self, name: str, value: Any, collections: list[str]) -> None:
        try:
            self._save_any(self._recording.declare_by_hand(name, collections), value)
        except Exception as error:  # whatever the program handed over, it goes on
            self.logger.warning("%s is not saved: %s", name, error)

    def close(self) -> None:
        """Ends the last step and the run, which is then finished. Again: does nothing."""
        atexit.unregister(self.close)
        try:
            if self._recording.has_waiting_scalars and not self._recording.is_open:
                self._open()
            if self._recording.is_open:
                self._save_custom_tensors_post_step()
            self.is_saving = False
            self._recording.close()
        except SMDebugError:
            raise
        except Exception as error:
            self.logger.error("the run in %s could not be closed: %s", self.out_dir, error)

    def _cleanup(self) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """A hook belongs to its process: what pickles or copies it gets nothing of it."""
        return {}

    def __repr__(self) -> str:
        shown = (
            "out_dir", "tensorboard_dir", "step", "mode", "mode_steps", "include_collections", "save_config",
            "reduction_config", "save_all", "dry_run",
        )  # fmt: skip
        lines = "".join(f"    {name}={str(getattr(self, name, None))[:200]},\n" for name in shown)
        return f"<{type(self).__module__}.{type(self).__name__} object at {hex(id(self))}>:(\n{lines})"


class CallbackHook(BaseHook):
    """A hook of a framework that calls it while a model runs. Its first step is 0."""

    INPUT_TENSOR_SUFFIX = "_input_"
    OUTPUT_TENSOR_SUFFIX = "_output_"

    def __init__(
        self, collection_manager: CollectionManager, default_include_collections: Iterable[str], **options: Any
    ) -> None:
        super().__init__(collection_manager, default_include_collections, init_step=-1, **options)
