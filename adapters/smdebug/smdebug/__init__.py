"""What programs of smdebug, the library of Amazon SageMaker Debugger, import; on top of Trainwarden.

    from smdebug.trials import create_trial

    trial = create_trial("runs/first")          # a run of Trainwarden, or a folder that smdebug wrote
    print(trial.tensor("loss").values())
"""

from trainwarden import __version__

from .core.collection import CollectionKeys
from .core.modes import ModeKeys as modes
from .core.reduction_config import ReductionConfig
from .core.save_config import SaveConfig, SaveConfigMode

__all__ = ["CollectionKeys", "ReductionConfig", "SaveConfig", "SaveConfigMode", "__version__", "modes"]
