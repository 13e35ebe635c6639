"""Attach: estimators of scikit-learn that train step by step. Each kind is waited for: programs import few of them."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .. import faults
from .._imports import when_imported
from ..boosting.attachment import Attachment

_attachment = Attachment()


def attach(run_dir: Optional[str] = None) -> None:
    """Captures each training of this process from now on. A second call does nothing.

    Arguments:
        run_dir: the folder of the first training's run, by default the one that TRAINWARDEN_RUN_DIR or the
            configuration names. Further trainings of the process get RUN_DIR-2, RUN_DIR-3, ...
    """
    if not _attachment.begin(run_dir):
        return
    for module, follow in (
        ("sklearn.neural_network._multilayer_perceptron", _follow_networks),
        ("sklearn.linear_model._stochastic_gradient", _follow_linear_models),
        ("sklearn.ensemble._gb", _follow_boosting),
        ("sklearn.ensemble._hist_gradient_boosting.gradient_boosting", _follow_histograms),
    ):
        when_imported(module, _guarded(follow))


def detach() -> None:
    """Captures no more in this process, and ends the run that is open."""
    _attachment.end()


def _guarded(follow: Callable[[Any], None]) -> Callable[[], None]:
    @faults.guarded("attach to scikit-learn")
    def act() -> None:
        follow(lambda: _attachment.sessions)

    return act


def _follow_networks(sessions: Any) -> None:
    from .networks import follow

    follow(sessions)


def _follow_linear_models(sessions: Any) -> None:
    from .linear_models import follow

    follow(sessions)


def _follow_boosting(sessions: Any) -> None:
    from .gradient_boosting import follow

    follow(sessions)


def _follow_histograms(sessions: Any) -> None:
    from .histograms import follow

    follow(sessions)
