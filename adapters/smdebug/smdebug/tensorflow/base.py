"""TensorFlowHook: what the hooks for TensorFlow's ways of training have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional, cast

import numpy as np
from trainwarden._cluster import rank_and_size

from ..core.collection import DEFAULT_TF_COLLECTIONS, CollectionKeys
from ..core.hook import CallbackHook, SaveConfigLike
from ..core.hook_utils import PathLike
from ..core.recording import Place
from ..core.reduction_config import ReductionConfig
from ..core.singleton_utils import set_hook
from ..core.tensor_numbers import TensorNumbers
from ..exceptions import SMDebugTypeError
from .collection import Collection, CollectionManager

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.LOSSES, CollectionKeys.METRICS, CollectionKeys.SM_METRICS]
_MATCHES_NOTHING = "(?!)"


class TensorFlowHook(CallbackHook):
    """Arguments and errors: BaseHook."""

    def __init__(
        self,
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
        super().__init__(
            CollectionManager(),
            DEFAULT_INCLUDE_COLLECTIONS,
            out_dir=out_dir,
            export_tensorboard=export_tensorboard,
            tensorboard_dir=tensorboard_dir,
            dry_run=dry_run,
            reduction_config=reduction_config,
            save_config=save_config,
            include_regex=include_regex,
            include_collections=include_collections,
            save_all=save_all,
            include_workers=include_workers,
        )
        self._numbers = TensorNumbers(self._recording)
        self._set_up()
        set_hook(self)

    def _set_up(self) -> None:
        """What a kind of hook has of its own."""

    @property
    def worker(self) -> str:
        """The name of this process among the workers."""
        return self._place_in_job().worker

    def get_collection(self, name: str, create: bool = True) -> Collection:
        """The collection of that name, created when missing."""
        return cast(Collection, super().get_collection(name, create))

    def add_to_collection(self, collection_name: str, arg: Any) -> None:
        """Adds a tensor, a variable or an operation to the collection. SMDebugTypeError: it is none."""
        self.get_collection(collection_name).add(arg)

    def set_optimizer_variables(self, optimizer_variables: Iterable[Any]) -> None:
        """Adds these to the collection `optimizer_variables`."""
        self.get_collection(CollectionKeys.OPTIMIZER_VARIABLES).add(list(optimizer_variables))

    # What BaseHook asks for.

    def _place_in_job(self) -> Place:
        return Place(*(rank_and_size() or (0, 1)))

    def _get_default_collections(self) -> Iterable[str]:
        return DEFAULT_TF_COLLECTIONS

    def _prepare_collections(self) -> None:
        """A collection may get its tensors later: one without any is one to be. `all` is all."""
        everything = self.collection_manager.get(CollectionKeys.ALL)
        if CollectionKeys.ALL in self.include_collections and not (everything.include_regex or everything.tensor_names):
            everything.include(".*")
        for name, collection in self.collection_manager.get_collections().items():
            if name in DEFAULT_TF_COLLECTIONS and not (collection.include_regex or collection.tensor_names):
                collection.include(_MATCHES_NOTHING)
        super()._prepare_collections()

    def _open(self) -> None:
        super()._open()
        self._numbers = TensorNumbers(self._recording, self._collections_to_save)

    def _save_any(self, tensor_id: int, value: Any) -> None:
        """Whatever has no dimension has one here, as in smdebug."""
        array = np.atleast_1d(np.asarray(value))
        self._recording.save_value(tensor_id, array)
        self._numbers.save_numbers(tensor_id, array)

    @staticmethod
    def _scalar_of(value: Any) -> float:
        try:
            return float(np.asarray(value).reshape(()))
        except (TypeError, ValueError):
            raise SMDebugTypeError(f"expected one number, found {value!r}") from None
