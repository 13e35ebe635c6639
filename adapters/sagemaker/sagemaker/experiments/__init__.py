"""Runs: what version 2 of SageMaker's SDK has to say things of an experiment.

    from sagemaker.experiments import Run

    with Run(experiment_name="digits", run_name="eval-1") as run:
        run.log_parameter("batch", 32)
        run.log_metric("accuracy", 0.97, step=1)
        estimator.fit({"train": "data"})  # its job belongs to the run's experiment

Experiments are those of smexperiments and of `trainwarden experiment`.
"""

from __future__ import annotations

from .run import Run, SortByType, SortOrderType, list_runs, load_run

__all__ = ["Run", "SortByType", "SortOrderType", "list_runs", "load_run"]
