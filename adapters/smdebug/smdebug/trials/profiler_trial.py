"""ProfilerTrial: says that there is none yet."""

from __future__ import annotations

from typing import Any

from ..exceptions import SMDebugNotImplementedError
from .trial import Trial


class ProfilerTrial(Trial):
    """Cannot be made: profiles are not read by this release."""

    def __init__(self, name: str, trial_dir: str, output_dir: str = "/opt/ml/processing/outputs/", **kwargs: Any):
        raise SMDebugNotImplementedError(
            f"profiler=True: the profile in {trial_dir} is not read yet; without it create_trial() opens its tensors"
        )
