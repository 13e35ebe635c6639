"""Hook: saves what a PyTorch model and its loss compute."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterable
from typing import Any, Union

import numpy as np
import torch
from trainwarden import faults

from ..core.collection import DEFAULT_PYTORCH_COLLECTIONS, CollectionKeys
from ..core.framework_hook import FrameworkHook
from ..core.recording import Place, leave_attached
from ..core.running_names import RunningNames
from ..exceptions import SMDebugError, SMDebugTypeError
from .collection import Collection, CollectionManager
from .taps import CallTap, GradientTap, RootTap, Taps
from .tensors import TensorWriter

DEFAULT_INCLUDE_COLLECTIONS = [CollectionKeys.LOSSES]


class Hook(FrameworkHook[Collection]):
    """Saves parameters, gradients, and inputs and outputs of the modules of a model and its loss.

        hook = smd.Hook("runs/first", save_config=smd.SaveConfig(save_interval=100))
        hook.register_module(model)
        hook.register_loss(criterion)

    A step begins with each call of a registered model. Parameters are saved as they are then; gradients as the backward
    pass brings them, in no step of mode EVAL or PREDICT. Arguments and errors: BaseHook.
    """

    make_collections = CollectionManager
    always_included = DEFAULT_INCLUDE_COLLECTIONS

    def _set_up(self) -> None:
        self.module_set: weakref.WeakSet[Any] = weakref.WeakSet()
        self.has_registered_module = False
        self.has_registered_loss_module = False
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._writer = TensorWriter(self._recording)
        self._running = RunningNames()
        self._taps = Taps()

    # Registering.

    def register_hook(self, module: Any) -> None:
        """Another name of register_module()."""
        self.register_module(module)

    def register_module(self, module: Any) -> None:
        """Saves what this model computes from now on. Its modules are named by their paths, itself by its class.

        Raises:
            SMDebugError: it is no torch.nn.Module.
            AssertionError: it, or a part of it, is registered already.
        """
        if not isinstance(module, torch.nn.Module):
            raise SMDebugError(f"expected a torch.nn.Module, found {type(module).__name__}")
        leave_attached()
        root_name = module._get_name()
        names = {part: path or root_name for path, part in module.named_modules()}
        for part, name in names.items():
            assert part not in self.module_set, f"{name} is registered already; register each module once"
        module.register_forward_pre_hook(RootTap(self))
        for part, name in names.items():
            self._names[part] = name
            self.module_set.add(part)
            self._taps.add_call(part, CallTap(self, name))
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                self._taps.add_gradient(parameter, GradientTap(self, f"{self.GRADIENT_PREFIX}{root_name}_{name}"))
        self.has_registered_module = True

    def register_loss(self, loss_module: Any) -> None:
        """Saves what goes into a loss of torch.nn, and what comes out, under the name of its class.

        Raises:
            AssertionError: it is no loss of torch.nn.
        """
        assert isinstance(loss_module, torch.nn.modules.loss._Loss), (
            f"expected a loss of torch.nn (a subclass of torch.nn.modules.loss._Loss), found "
            f"{type(loss_module).__name__}; give what it returns to record_tensor_value()"
        )
        leave_attached()
        name = loss_module._get_name()
        self._names[loss_module] = name
        self.module_set.add(loss_module)
        self._taps.add_call(loss_module, CallTap(self, name))
        self.has_registered_loss_module = True

    def count_parameters(self, model: Any) -> int:
        """Elements of the parameters that are trained."""
        return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)

    # What happens while the model runs.

    def begin_step_of(self, root: Any) -> None:
        """A registered model is about to run. Raises for wrong usage, at the first step."""
        self._begin_step()
        if not self.is_saving:
            self._taps.disarm()
            return
        self._taps.arm()
        self._running.begin_step()
        prefix = root._get_name() + "_"
        with self._writer.group:
            for name, parameter in root.named_parameters():
                self._writer.save(self._writer.declare(prefix + name), parameter)
        self.last_saved_step = self.step

    def save_tensor(
        self,
        tensor_name: str,
        tensor_value: Any,
        collections_to_write: Union[str, list[str]] = CollectionKeys.DEFAULT,
    ) -> None:
        """See BaseHook."""
        super().save_tensor(tensor_name, tensor_value, collections_to_write)
        self._taps.arm()  # in a step that is not saved the backward pass drops it

    def save_call(self, name: str, inputs: Any, outputs: Any) -> None:
        """A module has run."""
        self._save_nested(name + self.INPUT_TENSOR_SUFFIX, inputs)
        self._save_nested(name + self.OUTPUT_TENSOR_SUFFIX, outputs)
        if self.custom_tensors_to_save:
            self._save_custom_tensors_post_step()

    def save_gradient(self, name: str, gradient: Any) -> None:
        """The backward pass has brought a gradient."""
        if self.is_saving and gradient is not None:
            self._writer.save(self._writer.declare(name), gradient)
        if self.custom_tensors_to_save:
            self._save_custom_tensors_post_step()

    def record_tensor_value(self, tensor_name: str, tensor_value: Any) -> None:
        """Saves what a function computed, a functional loss for example, as `<tensor_name>_output_0`.

        Raises:
            AssertionError: it is no tensor.
        """
        assert isinstance(tensor_value, torch.Tensor), f"expected a torch.Tensor, found {tensor_value!r}"
        if not self.is_saving:
            return
        try:
            self._save_nested(tensor_name + self.OUTPUT_TENSOR_SUFFIX, tensor_value)
        except Exception as error:
            faults.report(f"save {tensor_name}", error)

    def _save_nested(self, stem: str, value: Any) -> None:
        """The tensors in nested lists and tuples, numbered through the step. Dicts, and classes derived from
        torch.Tensor, are passed over."""
        if type(value) is torch.Tensor:
            self._writer.save(self._writer.declare(self._running.next(stem)), value)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self._save_nested(stem, item)

    # What BaseHook asks for.

    def _place_in_job(self) -> Place:
        """As torch.distributed says, else horovod, else RANK and WORLD_SIZE."""
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            return Place(distributed.get_rank(), distributed.get_world_size())
        horovod = sys.modules.get("horovod.torch")
        if horovod is not None:
            return Place(horovod.rank(), horovod.size())
        try:
            return Place(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
        except (KeyError, ValueError):
            return Place()

    def _get_default_collections(self) -> Iterable[str]:
        return DEFAULT_PYTORCH_COLLECTIONS

    def _prepare_collections(self) -> None:
        for collection in self.collection_manager.get_collections().values():
            if isinstance(collection, Collection):
                self._include_modules(collection)
        super()._prepare_collections()

    def _include_modules(self, collection: Collection) -> None:
        for module, (inputs, outputs) in collection.modules.items():
            name = self._names.get(module)
            if name is None:
                raise SMDebugError(
                    f"collection {collection.name} has a module {type(module).__name__} that is not registered; "
                    "give its model to register_module()"
                )
            if inputs:
                collection.include(name + self.INPUT_TENSOR_SUFFIX)
            if outputs:
                collection.include(name + self.OUTPUT_TENSOR_SUFFIX)

    def _open(self) -> None:
        super()._open()
        self._writer = TensorWriter(self._recording, self._collections_to_save)

    def _save_any(self, tensor_id: int, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            self._writer.save(tensor_id, value)
        else:
            self._recording.save_value(tensor_id, value)

    @staticmethod
    def _scalar_of(value: Any) -> float:
        try:
            if isinstance(value, torch.Tensor):
                return float(value.detach().item())
            return float(np.asarray(value).item())
        except (TypeError, ValueError, RuntimeError):
            raise SMDebugTypeError(f"expected a number or a tensor with one element, found {value!r}") from None
