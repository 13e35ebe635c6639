"""Tests of the hooks. Those of the hook for PyTorch, which are most of them, need PyTorch."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_FOLDER = Path(__file__).parent
_OF_OTHER_FRAMEWORKS = ("test_keras_hook.py", "test_mxnet_hook.py", "test_session_hook.py", "test_xgboost_hook.py")

sys.path.insert(0, str(_FOLDER))
if importlib.util.find_spec("torch") is None:
    collect_ignore = [file.name for file in _FOLDER.glob("test_*.py") if file.name not in _OF_OTHER_FRAMEWORKS]
