"""Faults of the adapter: kept from the training, said once, and too many of them end it."""

from __future__ import annotations

from typing import Iterator

import pytest

import trainwarden
from trainwarden import faults


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    calls: list[str] = []
    monkeypatch.setattr(faults, "_count", 0)
    monkeypatch.setattr(faults, "_shown", set())
    monkeypatch.setattr(faults, "_give_up", [lambda: calls.append("gave up")])
    yield calls


@faults.guarded("divide")
def divide(a: int, b: int) -> float:
    return a / b


def test_a_fault_gives_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert divide(6, 3) == 2
    assert divide(1, 0) is None
    assert divide(2, 0) is None
    assert faults.failures() == 2
    assert capsys.readouterr().err == "trainwarden: error: could not divide: ZeroDivisionError: division by zero\n"


def test_too_many_faults_end_it(fresh: list[str]) -> None:
    for _ in range(faults.TOLERATED_FAULTS + 5):
        divide(1, 0)
    assert fresh == ["gave up"]


def test_the_end_of_the_program_passes_through() -> None:
    @faults.guarded("stop")
    def stop() -> None:
        raise trainwarden.StopTraining("enough")

    with pytest.raises(SystemExit) as stopped:
        stop()
    assert (stopped.value.code, str(stopped.value)) == (143, "enough")
