"""The wheel as it is installed: what is in it, what it links to, what the type checker says."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import trainwarden as tw
from trainwarden import _core

PACKAGE = Path(tw.__file__).parent
ROOT = Path(__file__).parents[3]


def output_of(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_version_is_the_same_everywhere() -> None:
    assert tw.__version__ == importlib.metadata.version("trainwarden")
    assert f"VERSION {tw.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_the_wheel_has_types_and_the_program() -> None:
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "_core.pyi").exists()
    program = shutil.which("trainwarden", path=str(Path(sys.executable).parent))
    assert program is not None
    assert tw.__version__ in output_of(program, "--version")


def test_the_core_stands_alone() -> None:
    assert _core.__file__ is not None
    needed = output_of("readelf", "--dynamic", _core.__file__)
    assert "libtorch" not in needed and "libtrainwarden" not in needed
    assert "libcurl" not in needed and "libssl" not in needed and "libcrypto" not in needed
    symbols = output_of("nm", "--dynamic", "--defined-only", _core.__file__).split()[2::3]
    assert symbols == ["PyInit__core"]


def test_the_core_has_no_sockets() -> None:
    """The names of C++ types are in a library also when its symbols are stripped."""
    core = Path(_core.__file__).read_bytes()
    assert b"N11trainwarden7answers" in core  # this is how such names are spelt
    for part in (b"N5boost4asio", b"N5boost5beast", b"N11trainwarden6server"):
        assert part not in core, part.decode()


def test_a_watched_program_does_not_pay_for_what_only_readers_need() -> None:
    program = "import sys, trainwarden; trainwarden.Hook.disabled(); print(*sys.modules)"
    loaded = output_of(sys.executable, "-c", program)
    assert not {"numpy", "torch", "ml_dtypes"} & set(loaded.split())


def test_everything_that_is_promised_is_there() -> None:
    assert all(hasattr(tw, name) for name in tw.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tw.nonsense
    assert dir(tw) == sorted(tw.__all__)


EXAMPLE = """
import numpy as np
import trainwarden
from trainwarden import rules

with trainwarden.Hook("run", collections=[trainwarden.Collection("mine", include=("w",), save=10)], save=2) as hook:
    number: int = hook.declare("weight", ["weights"])
    with hook.mode("eval"):
        hook.save_tensor(number, np.zeros(3))
    stop: bool = hook.step().stop_requested
trial = trainwarden.open("run")
value: np.ndarray = trial.value("weight", 0, trainwarden.Mode.TRAIN)
mean: float = trial.statistics("weight", 0).mean


@rules.rule
def calm(window: rules.StepWindow) -> rules.Verdict:
    return rules.Verdict.ok()


class Mine(rules.Rule):
    def evaluate(self, window: rules.StepWindow) -> bool:
        return window.scalar("loss") < 1


report: rules.Report = rules.run(trial, [calm(), Mine(), "VanishingGradient"])
reveal_type(hook.next_wanted_step(number))
hook.save_tensor(1.5, 0)
"""


def test_types_as_a_user_sees_them(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    example = tmp_path / "example.py"
    example.write_text(EXAMPLE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--disallow-untyped-calls", "--cache-dir", str(tmp_path), str(example)],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    complaints = [line for line in done.stdout.splitlines() if "error:" in line or "Revealed" in line]
    assert len(complaints) == 2, done.stdout
    assert 'Revealed type is "int | None"' in complaints[0] or "Union[builtins.int, None]" in complaints[0]
    assert 'No overload variant of "save_tensor"' in complaints[1]


def test_types_of_the_package_itself(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    config = str(ROOT / "pyproject.toml")
    output_of(sys.executable, "-m", "mypy", "--config-file", config, "--cache-dir", str(tmp_path))
