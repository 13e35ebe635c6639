"""Arrays of MXNet on their way into the run: under which number, in which form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trainwarden.mxnet.arrays import ArraySaver

from ..core.collection import Collection
from ..core.recording import Recording
from ..core.tensor_numbers import TensorNumbers


class TensorWriter(TensorNumbers):
    """Saves arrays into an open recording. Each may be changed after the call."""

    def __init__(self, recording: Recording, collections: Iterable[Collection] = ()) -> None:
        super().__init__(recording, collections)
        self._saver = ArraySaver(recording.core)

    def save(self, tensor_id: int, array: Any) -> None:
        """In the forms in which it is wanted now. It is computed already: who calls has waited."""
        self._saver.save(tensor_id, array)
        if self.requests_numbers(tensor_id):
            self.save_numbers(tensor_id, array.asnumpy())
