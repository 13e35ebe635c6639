"""Event files of TensorBoard: a summary of a tensor for each tensor and step.

Without TensorFlow it computes its checksums in Python, at some megabytes a second. Here it gets those of google-crc32c,
which are in C: they are a hundred times as fast as what its users have.
"""

from __future__ import annotations

from pathlib import Path

import google_crc32c
import numpy as np
import tensorboard
from tensorboard.backend.event_processing.event_accumulator import TENSORS, EventAccumulator
from tensorboard.compat.tensorflow_stub import pywrap_tensorflow
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util import tensor_util


pywrap_tensorflow.crc32c = google_crc32c.value  # masked_crc32c() asks it


def version() -> str:
    return f"TensorBoard {tensorboard.__version__}, event files, checksums in C"


class Writer:
    def __init__(self, folder: Path) -> None:
        self._file = EventFileWriter(str(folder))

    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        for name, array in tensors:
            value = Summary.Value(tag=name, tensor=tensor_util.make_tensor_proto(array))
            self._file.add_event(Event(step=step, summary=Summary(value=[value])))

    def close(self) -> None:
        self._file.close()


class LiveWriter(Writer):
    def write_step(self, step: int, tensors: list[tuple[str, np.ndarray]]) -> None:
        super().write_step(step, tensors)
        self._file.flush()


class Reader:
    """Reload() reads all that there is: there is no index."""

    def __init__(self, folder: Path) -> None:
        self._events = EventAccumulator(str(folder), size_guidance={TENSORS: 0})
        self._events.Reload()

    def names(self) -> list[str]:
        return self._events.Tags()[TENSORS]

    def steps(self) -> list[int]:
        return list({event.step for name in self.names() for event in self._events.Tensors(name)})

    def tensor(self, name: str, steps: list[int]) -> list[np.ndarray]:
        by_step = {event.step: event for event in self._events.Tensors(name)}
        return [tensor_util.make_ndarray(by_step[step].tensor_proto) for step in steps]

    def step(self, step: int, names: list[str]) -> dict[str, np.ndarray]:
        return {name: self.tensor(name, [step])[0] for name in names}


class Follower(Reader):
    def look(self, step: int, name: str) -> np.ndarray | None:
        self._events.Reload()
        if name not in self.names() or self._events.Tensors(name)[-1].step < step:
            return None
        return self.tensor(name, [step])[0]
