"""TensorFlowHook: what the hooks for TensorFlow's ways of training have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from trainwarden._cluster import rank_and_size

from ..core.collection import DEFAULT_TF_COLLECTIONS, CollectionKeys
from ..core.framework_hook import FrameworkHook
from ..core.recording import Place
from ..core.tensor_numbers import TensorNumbers
from ..exceptions import SMDebugTypeError
from .collection import Collection, CollectionManager

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.LOSSES, CollectionKeys.METRICS, CollectionKeys.SM_METRICS]
_MATCHES_NOTHING = "(?!)"


class TensorFlowHook(FrameworkHook[Collection]):
    """Arguments and errors: BaseHook."""

    make_collections = CollectionManager
    always_included = DEFAULT_INCLUDE_COLLECTIONS

    def _set_up(self) -> None:
        self._numbers = TensorNumbers(self._recording)

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
        self._include_all()
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
