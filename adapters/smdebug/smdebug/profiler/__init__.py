"""Readers of profiles: folders that SageMaker's profiler wrote, and runs of Trainwarden's, with smdebug's calls."""

from .algorithm_metrics_reader import LocalAlgorithmMetricsReader, S3AlgorithmMetricsReader
from .system_metrics_reader import LocalSystemMetricsReader, S3SystemMetricsReader

__all__ = [
    "LocalAlgorithmMetricsReader",
    "LocalSystemMetricsReader",
    "S3AlgorithmMetricsReader",
    "S3SystemMetricsReader",
]
