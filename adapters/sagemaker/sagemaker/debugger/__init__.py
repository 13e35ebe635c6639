"""What an estimator is told about looking into its training: what is captured, which rules judge, what they start."""

from __future__ import annotations

from . import rule_configs
from .hook_config import CollectionConfig, DebuggerHookConfig, TensorBoardOutputConfig
from .profiling import (
    DataloaderProfilingConfig,
    DetailedProfilingConfig,
    FrameworkProfile,
    ProfilerConfig,
    PythonProfiler,
    PythonProfilingConfig,
    cProfileTimer,
)
from .rules import ProfilerRule, Rule

__all__ = [
    "CollectionConfig",
    "DataloaderProfilingConfig",
    "DebuggerHookConfig",
    "DetailedProfilingConfig",
    "FrameworkProfile",
    "ProfilerConfig",
    "ProfilerRule",
    "PythonProfiler",
    "PythonProfilingConfig",
    "Rule",
    "TensorBoardOutputConfig",
    "cProfileTimer",
    "rule_configs",
]
