"""Lineage: what led to a job, a model or a data set, and what came of it, as `trainwarden lineage` shows it.

Artifacts are known by the hash of their content, or by their address. What SageMaker calls an action is a component here,
and what it calls a context is an experiment or a trial.
"""
