"""The log and its variables, the small helpers, and the modules of other frameworks."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import smdebug
from smdebug import modes
from smdebug.analysis.utils import parse_bool, parse_list_from_str
from smdebug.core import utils
from smdebug.core.modes import str_to_mode_keys

LOGS = "from smdebug.core.logger import get_logger as g; l = g()\n" + "\n".join(
    ["for _ in range(5): l.info('said again')", "l.debug('a detail'); l.error('a fault')", "l.info('%d of %d', 1, 2)"]
)


def logged(**variables: str) -> tuple[str, str]:
    paths = [str(Path(smdebug.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}
    done = subprocess.run([sys.executable, "-c", LOGS], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def test_the_log_leaves_standard_output_alone_and_repeats_three_times() -> None:
    out, err = logged(SMDEBUG_LOG_CONTEXT="me:1 %")
    assert err.count("said again") == 3 and err.count("a fault") == 1 and "1 of 2" in err
    assert "a detail" not in err and " me:1 % INFO <string>:" in err and out == ""


def test_the_log_by_its_variables(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    out, err = logged(SMDEBUG_LOG_LEVEL="Debug", SMDEBUG_LOG_ALL_TO_STDOUT="false", SMDEBUG_LOG_PATH=str(file))
    assert "a detail" in out and "a fault" not in out and "a fault" in err and "said again" not in err
    assert "a fault" in file.read_text() and "a detail" in file.read_text()
    assert logged(SMDEBUG_LOG_LEVEL="off") == ("", "")
    out, err = logged(SMDEBUG_LOG_LEVEL="error", SMDEBUG_LOG_ALL_TO_STDOUT="TRUE")
    assert "a fault" in out and "said again" not in out and err == ""


def test_modes_have_the_numbers_of_the_files() -> None:
    assert [(mode.name, mode.value) for mode in modes] == [("TRAIN", 1), ("EVAL", 2), ("PREDICT", 3), ("GLOBAL", 4)]
    assert str_to_mode_keys("eval") is modes.EVAL
    with pytest.raises(ValueError, match="expected train, eval"):
        str_to_mode_keys("EVAL")


def test_helpers() -> None:
    assert utils.match_inc("conv1.weight", ["bias", "v1.w"]) and not utils.match_inc("conv1", ["^v"])
    assert utils.flatten(["a", ["b", ["c"]], []]) == ["a", "b", "c"]
    assert utils.split("foo, bar,b az") == ["foo", "bar", "b az"]
    assert utils.is_s3("s3://bucket/some/prefix") == (True, "bucket", "some/prefix")
    assert utils.is_s3("/tmp/run") == (False, None, None)
    assert parse_list_from_str("a,b") == parse_list_from_str(["a", "b"]) == ["a", "b"]
    assert parse_list_from_str(None) == parse_list_from_str("") == [] and parse_list_from_str("a b", " ") == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "found"), [(True, True), ("True", True), ("true", True), ("false", False), (False, False), (None, True)]
)
def test_booleans_as_text(given: object, found: bool) -> None:
    assert parse_bool(given, default=True) is found
    with pytest.raises(ValueError, match="expected a boolean, found 'yes'"):
        parse_bool("yes", default=True)


def test_names_for_tensorflow_are_there_without_it() -> None:
    module = importlib.import_module("smdebug.tensorflow")
    assert module.modes is modes and module.create_trial and module.CollectionKeys.LOSSES == "losses"
    assert module.get_hook() is None
    with pytest.raises(AttributeError, match="has no attribute 'KerosHook'"):
        module.KerosHook  # noqa: B018
    if importlib.util.find_spec("tensorflow") is None:
        with pytest.raises(ModuleNotFoundError, match="tensorflow"):
            module.KerasHook  # noqa: B018


def test_names_of_the_package() -> None:
    from smdebug import Collection, CollectionKeys, ReductionConfig, SaveConfig, SaveConfigMode, create_trial
    from smdebug.trials import create_trial as the_same

    assert create_trial is the_same and isinstance(smdebug.__version__, str)
    assert all((Collection, CollectionKeys, ReductionConfig, SaveConfig, SaveConfigMode))
    with pytest.raises(AttributeError, match="has no attribute 'create_trail'"):
        smdebug.create_trail  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="has no attribute 'invoke'"):
        importlib.import_module("smdebug.rules").invoke


def test_a_training_does_not_wait_for_what_reads() -> None:
    paths = [str(Path(smdebug.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    code = "import sys, smdebug; assert not [name for name in sys.modules if name.startswith('smdebug.trials')]"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, check=True)
