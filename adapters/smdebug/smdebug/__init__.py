"""What programs of smdebug, the library of Amazon SageMaker Debugger, import; on top of Trainwarden.

    from smdebug.trials import create_trial

    trial = create_trial("runs/first")          # a run of Trainwarden, or a folder that smdebug wrote
    print(trial.tensor("loss").values())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainwarden import __version__
from trainwarden.notebook import seed_utils

from .core.collection import Collection, CollectionKeys
from .core.modes import ModeKeys as modes
from .core.reduction_config import ReductionConfig
from .core.save_config import SaveConfig, SaveConfigMode

if TYPE_CHECKING:
    from .trials import create_trial

__all__ = [
    "Collection",
    "CollectionKeys",
    "ReductionConfig",
    "SaveConfig",
    "SaveConfigMode",
    "__version__",
    "create_trial",
    "modes",
]


# The published notebook on BERT's attention imports its two views from a folder that lies beside it.
seed_utils.offer_in_notebooks()


def __getattr__(name: str) -> object:
    """Reading needs NumPy. A training does not wait for its import."""
    if name == "create_trial":
        from .trials import create_trial

        return create_trial
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
