"""Hook: saves what a model of Gluon and its loss compute."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from mxnet.base import MXNetError
from mxnet.gluon import Block
from mxnet.gluon.loss import Loss
from mxnet.ndarray import NDArray
from trainwarden import faults
from trainwarden.mxnet.arrays import arrays_in
from trainwarden.mxnet.ranks import horovod_rank_and_size

from ..core.collection import DEFAULT_MXNET_COLLECTIONS, CollectionKeys
from ..core.framework_hook import FrameworkHook
from ..core.modes import ModeKeys
from ..core.recording import Place, leave_attached
from ..core.running_names import RunningNames
from ..core.taps import Tap
from ..exceptions import SMDebugError, SMDebugTypeError
from .collection import Collection, CollectionManager
from .tensors import TensorWriter

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.LOSSES]
_WITHOUT_GRADIENTS = (ModeKeys.EVAL, ModeKeys.PREDICT)


class Hook(FrameworkHook[Collection]):
    """Saves parameters, gradients, and inputs and outputs of the blocks of a model and its loss.

        hook = smd.Hook("runs/first", save_config=smd.SaveConfig(save_interval=100))
        hook.register_block(net)
        hook.register_block(criterion)

    A step begins with each call of a registered model. Parameters and gradients are saved as they are when it ends:
    that is behind the update of the trainer. Arguments and errors: BaseHook.
    """

    make_collections = CollectionManager
    always_included = DEFAULT_INCLUDE_COLLECTIONS

    def _set_up(self) -> None:
        self._writer = TensorWriter(self._recording)
        self._running = RunningNames()
        self._root: Any = None  # the model whose step is open
        self._mode_of_step = ModeKeys.GLOBAL

    # Registering.

    def register_hook(self, block: Any) -> None:
        """Another name of register_block()."""
        self.register_block(block)

    def register_block(self, block: Any) -> None:
        """Saves what this model or loss computes from now on, under Gluon's names.

        Raises:
            SMDebugError: it is no Block of Gluon.
        """
        if not isinstance(block, Block):
            raise SMDebugError(f"expected a Block of Gluon, found {type(block).__name__}")
        leave_attached()
        if isinstance(block, Loss):
            block.register_forward_hook(_CallTap(self))
            return
        block.register_forward_pre_hook(_RootTap(self))
        block.apply(lambda part: part.register_forward_hook(_CallTap(self)))

    # What happens while the model runs.

    def begin_step_of(self, root: Any) -> None:
        """A registered model is about to run. Raises for wrong usage, at the first step."""
        self._save_parameters()
        self._begin_step()
        self._root, self._mode_of_step = root, self.mode
        self._running.begin_step()
        if self.is_saving:
            self.last_saved_step = self.step

    def save_call(self, name: str, inputs: Any, outputs: Any) -> None:
        """A block has run."""
        for stem, value in ((self.INPUT_TENSOR_SUFFIX, inputs), (self.OUTPUT_TENSOR_SUFFIX, outputs)):
            for array in arrays_in(value):
                self._save_array(self._running.next(name + stem), array)
        if self.custom_tensors_to_save:
            self._save_custom_tensors_post_step()

    def _save_parameters(self) -> None:
        """At the end of the step that is open."""
        root, self._root = self._root, None
        if root is None or not self.is_saving:
            return
        for parameter in root.collect_params().values():
            if parameter._data is None or parameter._stype != "default":
                continue  # not initialised, or on the servers of a store
            self._save_array(parameter.name, parameter.list_data()[0])
            if parameter.grad_req != "null" and self._mode_of_step not in _WITHOUT_GRADIENTS:
                self._save_array(self.GRADIENT_PREFIX + parameter.name, parameter.list_grad()[0])

    def _save_array(self, name: str, array: Any) -> None:
        tensor_id = self._writer.declare(name)
        if self._writer.wants(tensor_id):
            array.wait_to_read()  # what MXNet raises here is an error of the program's
            self._writer.save(tensor_id, array)

    # What BaseHook asks for.

    def close(self) -> None:
        """See BaseHook."""
        try:
            self._save_parameters()
        except Exception as error:
            faults.report("save the parameters of the last step", error)
        super().close()

    def _place_in_job(self) -> Place:
        return Place(*(horovod_rank_and_size() or (0, 1)))

    def _get_default_collections(self) -> Iterable[str]:
        return DEFAULT_MXNET_COLLECTIONS

    def _prepare_collections(self) -> None:
        """`all` without a pattern is all: smdebug left out what blocks take and give."""
        self._include_all()
        super()._prepare_collections()

    def _open(self) -> None:
        super()._open()
        self._writer = TensorWriter(self._recording, self._collections_to_save)

    def _save_any(self, tensor_id: int, value: Any) -> None:
        if isinstance(value, NDArray):
            self._writer.save(tensor_id, value)
        else:
            self._recording.save_value(tensor_id, value)

    @staticmethod
    def _scalar_of(value: Any) -> float:
        try:
            return float(np.asarray(value.asnumpy() if isinstance(value, NDArray) else value).reshape(()))
        except (TypeError, ValueError):
            raise SMDebugTypeError(f"expected a number or an array with one element, found {value!r}") from None


class _BlockTap(Tap):
    def __init__(self, hook: Hook) -> None:
        self.hook = hook


class _RootTap(_BlockTap):
    """Before the forward pass of a registered model: a step begins."""

    def __call__(self, block: Any, inputs: Any) -> None:
        try:
            self.hook.begin_step_of(block)
        except (SMDebugError, MXNetError):
            raise  # wrong usage, and what the program's own arrays have waited to say
        except Exception as error:
            faults.report("begin a step of smdebug's hook", error)


class _CallTap(_BlockTap):
    """After the forward pass of a block."""

    def __call__(self, block: Any, inputs: Any, outputs: Any) -> None:
        if not self.hook.is_saving:
            return
        try:
            self.hook.save_call(block.name, inputs, outputs)
        except MXNetError:
            raise
        except Exception as error:
            faults.report(f"save what {block.name} computes", error)
