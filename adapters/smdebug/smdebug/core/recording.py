"""Recording: the run that a hook of smdebug's writes, through a hook of trainwarden."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import trainwarden
from trainwarden._spool import added_to

from ..exceptions import SMDebugValueError
from .collection_plan import by_hand_names
from .live_tensorboard import LiveTensorBoard
from .logger import get_logger

_WHEN_FULL_VARIABLE = "TRAINWARDEN_WHEN_FULL"


@dataclass(frozen=True)
class Place:
    """This process among the workers of the job."""

    rank: int = 0
    world_size: int = 1

    @property
    def worker(self) -> str:
        return f"worker_{self.rank}"


class Recording:
    """Not there before open(); what comes earlier waits for the first step. Then every call is one of trainwarden's."""

    def __init__(self) -> None:
        self.core: trainwarden.Hook = trainwarden.Hook.disabled()
        self.is_open = False
        self._in_step = False
        self._closed = False
        self._by_hand_ids: dict[tuple[str, ...], int] = {}  # by name and collections
        self._by_hand: list[str] = []
        self._early_scalars: list[tuple[str, float]] = []
        self._tensorboard: Optional[LiveTensorBoard] = None

    def open(self, folder: str, place: Place, options: Mapping[str, Any], tensorboard_dir: Optional[str]) -> None:
        """Opens the run. When it cannot be written, this is logged, and the training continues without it.

        Raises:
            SMDebugValueError: a pattern or a schedule is wrong.
        """
        self.is_open = True
        self._by_hand = by_hand_names(options["collections"])
        leave_attached()
        # smdebug wrote immediately, and made the training wait for the disk. Here that is an option.
        when_full = os.environ.get(_WHEN_FULL_VARIABLE) or "drop"
        try:
            self.core = trainwarden.Hook(
                folder, rank=place.rank, world_size=place.world_size, when_full=when_full, **options
            )
        except ValueError as error:
            raise SMDebugValueError(str(error)) from None
        except FileExistsError as error:
            get_logger().warning("this process saves nothing in %s: %s", folder, error)
        except trainwarden.Error as error:
            get_logger().error("nothing can be saved in %s: %s", folder, error)
        if tensorboard_dir and place.rank == 0 and not options["dry_run"] and self.core.report().on:
            self._tensorboard = LiveTensorBoard(self.core.run_dir, tensorboard_dir)

    def end_step(self) -> None:
        """Ends the step, if one has begun: readers see it from now on.

        Raises:
            StopTraining (SystemExit): the training was asked to stop. The run is closed.
        """
        if not self._in_step:
            return
        self._in_step = False
        end = self.core.step()
        if end.stop_requested and not self._closed:
            get_logger().warning("the training was asked to stop: %s", end.stop_reason)
            self.close()
            raise trainwarden.StopTraining(end.stop_reason)

    def begin_step(self, mode: str) -> bool:
        """Is anything of the step that begins wanted?"""
        if self._closed:
            return False
        self._in_step = True
        if self.core.current_mode != mode:
            self.core.set_mode(mode)
        if self._early_scalars:
            self._save_early_scalars()
        return self.core.wants_anything()

    def declare_by_hand(self, name: str, collections: Iterable[str] = ()) -> int:
        """The number of a tensor that the program hands over: kept at each step at which anything is."""
        key = (name, *collections)
        if key not in self._by_hand_ids:
            self._by_hand_ids[key] = self.core.declare(name, [*self._by_hand, *collections])
        return self._by_hand_ids[key]

    def save_scalar(self, name: str, value: float) -> None:
        if self._in_step:
            self.core.save_scalar(name, value)
        else:
            self._early_scalars.append((name, value))

    def _save_early_scalars(self) -> None:
        for name, value in self._early_scalars:
            self.core.save_scalar(name, value)
        self._early_scalars.clear()

    def save_value(self, tensor_id: int, value: object) -> None:
        """Of anything that NumPy can make an array of.

        Raises:
            TypeError: it cannot.
        """
        array = np.asarray(value)
        if array.dtype.kind in "US":
            self.core.save_tensor(tensor_id, [str(text) for text in array.ravel()])
        elif array.dtype.kind == "O":
            raise TypeError(f"expected numbers or texts, found {type(value).__name__}")
        else:
            self.core.save_tensor(tensor_id, array)

    @property
    def has_waiting_scalars(self) -> bool:
        return bool(self._early_scalars)

    def close(self) -> None:
        """Ends the step and the run. Again: does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._early_scalars:
            self._save_early_scalars()
        self.core.close()
        for loss in self.core.report().losses:
            what = (loss.count, loss.bytes, loss.cause, loss.first_message)
            get_logger().warning("not saved: %d tensors or numbers, %d bytes, %s: %s", *what)
        if self._tensorboard is not None:
            self._tensorboard.finish()
            added_to(self.core.run_dir)


def leave_attached() -> None:
    """What `trainwarden run` has attached to this process leaves the capturing to the program's own hook."""
    for framework in ("torch", "xgboost", "mxnet", "keras", "tf_sessions"):
        attached = sys.modules.get(f"trainwarden.{framework}.attach")
        if attached is not None:
            attached.detach()
