"""Notebooks and scripts that were written for Amazon SageMaker's Python SDK, with training jobs that run here.

    import sagemaker
    from sagemaker.debugger import Rule, rule_configs
    from sagemaker.pytorch import PyTorch

    estimator = PyTorch(
        entry_point="train.py",
        role=sagemaker.get_execution_role(),
        instance_count=1,
        hyperparameters={"epochs": 3},
        rules=[Rule.sagemaker(rule_configs.vanishing_gradient())],
    )
    estimator.fit(wait=False)
    estimator.latest_training_job.rule_job_summary()

Jobs are those of the program `trainwarden` (docs/guide/jobs.md), which does all the work. What only the cloud has
raises sagemaker.exceptions.NotHere, which says what to use. docs/guide/coming-from-sagemaker.md has the whole of it.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from . import estimator, inputs, session
from .exceptions import NotHere
from .inputs import TrainingInput, s3_input
from .session import Session, get_execution_role

__all__ = ["Session", "TrainingInput", "estimator", "get_execution_role", "inputs", "s3_input", "session"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("trainwarden-sagemaker")
    if name.startswith("_"):
        raise AttributeError(name)
    if importlib.util.find_spec(f"{__name__}.{name}") is not None:  # from sagemaker import analytics
        return importlib.import_module(f"{__name__}.{name}")
    raise NotHere(
        f"sagemaker.{name}: Trainwarden has of SageMaker's SDK what trains: {', '.join(__all__)}, "
        "and the modules analytics, aws, debugger, experiments, lineage, mxnet, processing, pytorch, sklearn, tensorflow and xgboost"
    )
