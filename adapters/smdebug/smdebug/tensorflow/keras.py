"""KerasHook: saves what a model of Keras computes, as one of its callbacks, or a loop over wrapped tapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
import trainwarden
from trainwarden import faults
from trainwarden.keras.attach import lend

from ..core.collection import Collection, CollectionKeys
from ..core.modes import ModeKeys
from ..core.recording import leave_attached
from ..exceptions import SMDebugTypeError
from .base import TensorFlowHook
from .keras_steps import KerasSteps, gradient_name, name_of
from .tapes import LayerTap, TapeTap

_LOSSES = ("loss", "val_loss")
_BIAS = re.compile("^(?!gradient).*bias")


class KerasHook(TensorFlowHook, tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Saves metrics, weights, variables of the optimizer, gradients, and what layers take and give.

        hook = smd.KerasHook("runs/first", save_config=smd.SaveConfig(save_interval=100))
        optimizer = hook.wrap_optimizer(optimizer)
        model.fit(x, y, callbacks=[hook])

    Each batch is a step of its mode. In a loop of one's own each wrapped tape is one:

        hook.register_model(model)
        with hook.wrap_tape(tf.GradientTape()) as tape:
            loss = criterion(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)

    Weights are saved as they are behind the batch; in a loop, as they are where the tape is asked for gradients, that
    is before the update. Arguments and errors: BaseHook.
    """

    captures_itself = True

    def _set_up(self) -> None:
        super()._set_up()
        tf.keras.callbacks.Callback.__init__(self)
        self._supports_tf_logs = True  # metrics are not fetched for us
        self.is_in_batch = False
        self._steps = KerasSteps(self)
        self._optimizer: Any = None
        self._optimizer_variables: list[Any] = []  # that the program has named
        self._saved: set[str] = set()  # names, in this step
        self._layers = LayerTap()
        self.has_registered_model = False

    # What the program calls.

    def wrap_optimizer(self, optimizer: Any) -> Any:
        """The same optimizer, whose variables are in the collection `optimizer_variables` from now on.

        Raises:
            SMDebugTypeError: it has no apply_gradients().
        """
        if not hasattr(optimizer, "apply_gradients"):
            raise SMDebugTypeError(f"expected an optimizer of Keras, found {optimizer!r}")
        self._optimizer = optimizer
        return optimizer

    def wrap_tape(self, tape: Any) -> Any:
        """The same tape. When it begins, a step of mode TRAIN does; its gradients and its loss are saved.

        Raises:
            SMDebugTypeError: it is no tf.GradientTape.
        """
        if not isinstance(tape, tf.GradientTape):
            raise SMDebugTypeError(f"expected a tf.GradientTape, found {tape!r}")
        self.set_mode(ModeKeys.TRAIN)
        self._take_over()
        TapeTap(self).wrap(tape)
        return tape

    def register_model(self, model: Any) -> None:
        """Its layers are those whose inputs and outputs are saved in a loop of one's own."""
        self.has_registered_model = True
        self._layers.model = model

    def set_optimizer_variables(self, optimizer_variables: Iterable[Any]) -> None:
        """Adds these to the collection `optimizer_variables`."""
        self._optimizer_variables += list(optimizer_variables)

    def set_gradients(self, gradients: Any = None, gradients_and_variables: Any = None) -> None:
        """Saves gradients of the step that is open: pairs with their variables, or in the order of the model's."""
        if gradients_and_variables is None:
            model = self._layers.model or self.model
            gradients_and_variables = zip(gradients or (), model.trainable_variables)
        if self.is_saving:
            self._save_gradients(list(gradients_and_variables))

    # What Keras calls.

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        self._take_over()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._begin_batch(ModeKeys.TRAIN)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._begin_batch(ModeKeys.EVAL)

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._begin_batch(ModeKeys.PREDICT)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._end_batch(batch, logs)

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self._end_batch(batch, logs)

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self._end_batch(batch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """What Keras says of the epoch is saved at the last step, whether that is one to save or not."""
        self._save_epoch(epoch, logs or {})

    # Steps.

    def _take_over(self) -> None:
        """From what `trainwarden run` has attached."""
        leave_attached()
        try:
            lend(lambda backend: self._steps)
        except Exception as error:
            faults.report("save what happens inside steps of Keras", error)

    def _begin_batch(self, mode: ModeKeys) -> None:
        """Raises for wrong usage, at the first step."""
        self.set_mode(mode)
        try:
            self.begin_step()
        except trainwarden.StopTraining:
            self.is_saving = False
            self.model.stop_training = True  # the program goes on behind fit()
        self.is_in_batch = True

    def begin_step(self) -> None:
        """Ends the one before. Raises for wrong usage, at the first step, and when the training was asked to stop."""
        if self.custom_tensors_to_save and self._recording.is_open:
            self._save_custom_tensors_post_step()
        self._begin_step()
        self._saved.clear()
        self._layers.forget()
        if self.is_saving:
            self.last_saved_step = self.step

    def _end_batch(self, batch: int, logs: Any) -> None:
        self.is_in_batch = False
        if self.is_saving:
            self._save_batch(batch, logs or {})
        if self.custom_tensors_to_save:
            self._save_custom_tensors_post_step()

    # What is saved.

    def saved_collections(self) -> Iterable[Collection]:
        return self._collections_to_save

    def wants_found(self, names: Mapping[str, str]) -> bool:
        return any(self._numbers.wants(self._id(name, collection)) for name, collection in names.items())

    def save_found(self, values: Mapping[str, Any], names: Mapping[str, str]) -> None:
        for name, value in values.items():
            self._save(name, value, names[name])

    @faults.guarded("save a batch of Keras")
    def _save_batch(self, batch: int, logs: Mapping[str, Any]) -> None:
        for name, value in _numbers_of(batch, logs):
            self._save(name, value, _collection_of(name))
        for name, variable in _weights_of(self.model):
            self._save_variable(name, variable)
        if self.mode is ModeKeys.TRAIN:
            self._save_optimizer(self._optimizer or getattr(self.model, "optimizer", None))

    @faults.guarded("save an epoch of Keras")
    def _save_epoch(self, epoch: int, logs: Mapping[str, Any]) -> None:
        for name, value in _numbers_of(epoch, logs):
            if name in self._saved:
                continue
            if not self._save(name, value, _collection_of(name)):
                self._recording.save_scalar(name, self._scalar_of(value))

    @faults.guarded("save what a tape gives")
    def save_tape(self, target: Any, sources: list[Any], gradients: list[Any]) -> None:
        """Gradients and the variables that they are of, before the update, and the loss."""
        pairs = [(gradient, source) for gradient, source in zip(gradients, sources) if isinstance(source, tf.Variable)]
        self._save_gradients(pairs)
        for _, variable in pairs:
            self._save_variable(f"weights/{name_of(variable)}", variable)
        self._save_optimizer(self._optimizer)
        for name, value in self._layers.found():
            self._save(name, value, CollectionKeys.LAYERS)
        if isinstance(target, tf.Tensor):
            self._save("loss", target, CollectionKeys.LOSSES)

    def begin_layers(self) -> None:
        """What layers of the registered model take and give is noted, where it is saved at this step."""
        if self.is_saving and self._is_collection_being_saved_for_step(CollectionKeys.LAYERS):
            self._layers.begin()

    def end_layers(self) -> None:
        self._layers.end()

    def _save_gradients(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        for gradient, variable in pairs:
            if gradient is not None:
                name = gradient_name(name_of(variable).partition(":")[0])
                self._save(name, tf.convert_to_tensor(gradient), CollectionKeys.GRADIENTS)

    def _save_variable(self, name: str, variable: Any) -> None:
        collection = CollectionKeys.BIASES if _BIAS.search(name_of(variable)) else CollectionKeys.WEIGHTS
        self._save(name, variable, collection)

    def _save_optimizer(self, optimizer: Any) -> None:
        """What does not exist before the first update is there from the second step on."""
        for variable in (*_variables_of(optimizer), *self._optimizer_variables):
            self._save(name_of(variable), variable, CollectionKeys.OPTIMIZER_VARIABLES)

    def _save(self, name: str, value: Any, collection: str) -> bool:
        """Was it wanted?"""
        tensor_id = self._id(name, collection)
        if not self._numbers.wants(tensor_id):
            return False
        if name not in self._saved:
            self._saved.add(name)
            self._save_any(tensor_id, value)
        return True

    def _id(self, name: str, collection: str) -> int:
        self.collection_manager.get(collection).add_tensor_name(name)
        return self._numbers.declare(name)


    def _save_any(self, tensor_id: int, value: Any) -> None:
        """A variable, or a tensor, is read where it lies."""
        if hasattr(value, "assign"):
            value = value.value() if callable(value.value) else value.value
        if not isinstance(value, tf.Tensor) or value.shape.rank == 0 or value.dtype == tf.string:
            super()._save_any(tensor_id, value)
            return
        self._recording.core.save_tensor(tensor_id, value)
        if self._numbers.requests_numbers(tensor_id):
            self._numbers.save_numbers(tensor_id, np.asarray(value))


def _collection_of(name: str) -> str:
    return CollectionKeys.LOSSES if name in _LOSSES else CollectionKeys.METRICS


def _numbers_of(batch: int, logs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Metrics, and the number of the batch or epoch. What a model predicts is among the logs, too."""
    yield from ((name, value) for name, value in logs.items() if name != "outputs")
    yield "batch", batch


def _weights_of(model: Any) -> Iterator[tuple[str, Any]]:
    for layer in model.layers:
        for variable in layer.weights:
            yield f"{layer.name}/weights/{name_of(variable)}", variable


def _variables_of(optimizer: Any) -> list[Any]:
    """With the rate and the like, which the older kind keeps apart. Numbers until the first update."""
    found = getattr(optimizer, "variables", ())
    apart = (*getattr(optimizer, "_hyper", {}).values(), getattr(optimizer, "_learning_rate", None))
    all_found = [*(found() if callable(found) else found), *(each for each in apart if hasattr(each, "assign"))]
    return list({id(variable): variable for variable in all_found}.values())
