"""Networks: MLPClassifier and MLPRegressor. A step is a batch; with lbfgs, each time that it computes gradients."""

from __future__ import annotations

import inspect
import threading
from typing import Any, Callable, Optional

from sklearn.neural_network import _multilayer_perceptron as networks
from sklearn.neural_network import _stochastic_optimizers as optimizers

from .. import faults
from .._replacing import replace
from ..boosting.sessions import Sessions
from ..stopping import StopTraining
from .step_session import StepSession

_inside = threading.local()  # .training: the one that this thread follows
_EPOCH_LOSS = "epoch_mean/loss"


def follow(sessions: Callable[[], Optional[Sessions]]) -> None:
    network = networks.BaseMultilayerPerceptron
    signature = inspect.signature(network._fit)
    replace(network, "_fit", lambda original: _fitting(original, signature, sessions))
    replace(network, "_backprop", _propagating)
    replace(network, "_update_no_improvement_count", _ending_epochs)
    replace(optimizers.BaseOptimizer, "update_params", _updating)


class _Training:
    """Of one estimator, while it is fitted."""

    def __init__(self, session: StepSession, estimator: Any, is_incremental: bool) -> None:
        self.estimator = estimator
        self.session = session
        is_stochastic = estimator.solver != "lbfgs"
        # Ctrl-C ends fit(), which keeps what it has. Between two calls of partial_fit() the program would train on.
        session.stop_by = KeyboardInterrupt if is_stochastic and not is_incremental else StopTraining

    @faults.guarded("capture the gradients of a network")
    def computed(self, activations: list[Any], result: tuple[Any, ...]) -> None:
        loss, *gradients = result
        session, estimator = self.session, self.estimator
        session.keep("loss", float(loss), "losses")
        if estimator.solver == "lbfgs":
            session.cannot_veto("a step of lbfgs, which looks for a way by itself")
            self.updated()
        if session.is_quiet:
            return
        for kind, of_layers in zip(("coefs", "intercepts"), gradients):
            for number, gradient in enumerate(of_layers):
                session.keep(f"gradient/{kind}/{number}", gradient, "gradients")
        last = len(activations) - 1
        for number, values in enumerate(activations[1:], start=1):
            kinds = ["relu_outputs"] if number < last and estimator.activation == "relu" else []
            session.keep(f"layer_{number}/outputs", values, "outputs", *kinds)

    @faults.guarded("capture the weights of a network")
    def updated(self) -> None:
        estimator = self.estimator
        if self.session.is_quiet:
            return
        for number, weights in enumerate(estimator.coefs_):
            self.session.keep(f"coefs/{number}", weights, "weights")
        for number, biases in enumerate(estimator.intercepts_):
            self.session.keep(f"intercepts/{number}", biases, "biases")
        rate = getattr(getattr(estimator, "_optimizer", None), "learning_rate", None)
        if rate is not None:
            self.session.keep("learning_rate", float(rate), "scalars")

    @faults.guarded("ask whether a network may be updated")
    def is_vetoed(self) -> bool:
        return self.session.is_vetoed()

    @faults.guarded("capture what an epoch of a network ends with")
    def epoch_ends(self) -> None:
        self.session.keep(_EPOCH_LOSS, float(self.estimator.loss_curve_[-1]), "metrics")
        if self.estimator.early_stopping:
            self.session.keep("validation_score", float(self.estimator.validation_scores_[-1]), "metrics")


def _training() -> Optional[_Training]:
    return getattr(_inside, "training", None)


def _fitting(original: Any, signature: inspect.Signature, sessions: Callable[[], Optional[Sessions]]) -> Any:
    """Of _fit(), through which fit() and partial_fit() go."""

    def _fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        current = sessions()
        training = None if current is None else _begin(current, self, signature, args, kwargs)
        if current is None or training is None:
            return original(self, *args, **kwargs)
        before, _inside.training = _training(), training
        try:
            with current.following(training.session):
                result = original(self, *args, **kwargs)
                training.session.end_step()
                return result
        finally:
            _inside.training = before

    return _fit


@faults.guarded("follow a training of a network")
def _begin(
    sessions: Sessions, estimator: Any, signature: inspect.Signature, args: Any, kwargs: Any
) -> Optional[_Training]:
    is_incremental = bool(signature.bind(estimator, *args, **kwargs).arguments.get("incremental", False))
    begin = sessions.going_on if is_incremental else sessions.begin_other
    session = begin(estimator, lambda folder: StepSession(folder, estimator))
    return None if session is None else _Training(session, estimator, is_incremental)


def _propagating(original: Any) -> Any:
    """Of _backprop()."""

    def _backprop(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        training = _training()
        if training is None or training.estimator is not self:
            return original(self, X, y, *args, **kwargs)
        training.session.begin_step()
        result = original(self, X, y, *args, **kwargs)
        activations = next((each for each in args if isinstance(each, list)), [])
        training.computed(activations, result)
        return result

    return _backprop


def _updating(original: Any) -> Any:
    """Of an optimizer's update_params()."""

    def update_params(self: Any, *args: Any, **kwargs: Any) -> Any:
        training = _training()
        if training is None or getattr(training.estimator, "_optimizer", None) is not self:
            return original(self, *args, **kwargs)
        result = None if training.is_vetoed() else original(self, *args, **kwargs)
        training.updated()
        return result

    return update_params


def _ending_epochs(original: Any) -> Any:
    """Of what looks at the losses when an epoch has ended."""

    def _update_no_improvement_count(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        training = _training()
        if training is not None and training.estimator is self:
            training.epoch_ends()
        return result

    return _update_no_improvement_count
