"""Rules of Python files, each in a process of its own: they judge, and what fails harms nobody else."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trainwarden as tw
from trainwarden import rules
from trainwarden.rules import Outcome, RuleState

_FILE = Path(__file__).parent / "rules_to_host.py"


@pytest.fixture
def finished(run_dir: Path) -> Path:
    with tw.Hook(run_dir) as hook:
        for step in range(6):
            hook.save_scalar("loss", float(step))
            hook.step()
    return run_dir


def test_a_class(finished: Path) -> None:
    report = rules.run(finished, f"{_FILE}:Above:limit=3,inclusive=true")
    (status,) = report.statuses
    assert (status.rule_id, status.status) == ("Above", RuleState.ISSUES_FOUND), status.details
    assert status.outcomes[Outcome.OK] == 3
    (verdict,) = report.verdicts
    assert verdict.global_step == 3
    assert verdict.verdict.message == "the loss is 3.0"
    assert verdict.verdict.severity is rules.Severity.ERROR
    (evidence,) = verdict.verdict.evidence
    assert evidence.value != evidence.value and evidence.threshold == 3


def test_a_function(finished: Path) -> None:
    (status,) = rules.run(finished, f"{_FILE}:holds:limit=4").statuses
    assert (status.rule_id, status.status) == ("holds", RuleState.ISSUES_FOUND)
    assert status.outcomes[Outcome.OK] == 4


@pytest.mark.parametrize(
    "how, said",
    [
        ("spin", "took longer than 2 s and was killed"),
        ("sleep", "took longer than 2 s"),
        ("raise", "ZeroDivisionError: by my own hand (rules_to_host.py, line"),
        ("exit", "ended with exit code 5; the last that it wrote: "),
        ("crash", "ended by signal 11"),
        ("allocate", "held more than 512.0 MiB of memory"),
        ("garbage", "answer"),
        ("half", "ended with exit code 0"),
        ("close", "process"),
    ],
)
def test_what_fails_is_parked_and_the_others_go_on(finished: Path, how: str, said: str) -> None:
    # The limits of the one that spins or sleeps are short, and those of the others are not what is tried.
    limit = 2 if how in ("spin", "sleep") else 60
    spec = f"{_FILE}:faulty:how={how},host.time_limit={limit},host.memory_limit=0.5"
    faulty, healthy = rules.run(finished, [spec, f"{_FILE}:holds:limit=100"]).statuses
    assert faulty.status is RuleState.ERROR
    assert faulty.details.startswith("failed at step 2: ")
    assert said in faulty.details
    assert faulty.outcomes[Outcome.OK] == 2
    assert healthy.status is RuleState.NO_ISSUES_FOUND
    assert healthy.outcomes[Outcome.OK] == 6


@pytest.mark.parametrize(
    "spec, said",
    [
        ("Above", "it needs limit"),
        ("Above:limit=much", 'parameter limit: expected float, found "much"'),
        ("Above:limit=1,inclusive=perhaps", "expected bool"),
        ("Above:limit=1,limt=2", 'no parameter "limt"; its parameters are limit, inclusive, name, after'),
        ("Nothing", 'no rule "Nothing"; it has Above, LikeSmdebug, faulty, holds'),
        ("Above:limit=1,host.time_limit=0", "host.time_limit"),
    ],
)
def test_what_cannot_be_made_says_why(finished: Path, spec: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"rule .* of .*rules_to_host\.py") as raised:
        rules.run(finished, f"{_FILE}:{spec}")
    assert said in str(raised.value)


def test_a_file_that_does_not_load(finished: Path, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module_at_all\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no_such_module_at_all"):
        rules.run(finished, str(file))
    file.write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the file has no rule"):
        rules.run(finished, str(file))


@pytest.fixture
def host() -> Iterator[Any]:
    """Asks a host as the engine does."""
    ours, theirs = socket.socketpair()
    code = "import os, sys; os.dup2(int(sys.argv[1]), 3); from trainwarden import rule_host; sys.exit(rule_host.main())"
    command = [sys.executable, "-c", code, str(theirs.fileno())]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
    theirs.close()
    answers = ours.makefile("rb")

    def ask(**question: Any) -> Any:
        ours.sendall(json.dumps(question).encode() + b"\n")
        return json.loads(answers.readline())

    yield ask
    ours.shutdown(socket.SHUT_RDWR)
    assert process.wait(timeout=30) == 0  # it ends when the engine does


def test_what_it_needs(host: Any) -> None:
    answer = host(ask="start", file=str(_FILE), rule="Above", parameters={"limit": "3"})
    assert answer == {
        "needs": [
            {"name": "losses", "include": [], "every": 1, "keep": ["statistics"]},
            {"name": "mine", "include": ["^g"], "every": 5, "keep": ["hash"]},
        ]
    }


def test_it_opens_the_run_and_judges_step_by_step(host: Any, finished: Path) -> None:
    host(ask="start", file=str(_FILE), rule="holds", parameters={"limit": "3"})
    assert host(ask="open", run=str(finished)) == {}
    assert [host(ask="judge", step=step)["outcome"] for step in (2, 3)] == ["ok", "fired"]


def test_a_run_that_is_not_there(host: Any, tmp_path: Path) -> None:
    host(ask="start", file=str(_FILE), rule="holds", parameters={})
    assert "error" in host(ask="open", run=str(tmp_path / "none"))


def test_a_class_like_those_of_smdebug_is_made_with_the_run(host: Any, finished: Path) -> None:
    answer = host(ask="start", file=str(_FILE), rule="LikeSmdebug", parameters={"threshold": "1"})
    assert answer == {"needs": []}
    assert host(ask="open", run=str(finished)) == {}
    assert [host(ask="judge", step=step)["outcome"] for step in (0, 1)] == ["ok", "fired"]


def test_the_working_directory_is_not_imported_from(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check --rule ~/rule.py` in somebody else's folder runs nothing of that folder."""
    hostile = tmp_path / "hostile"
    (hostile / "trainwarden").mkdir(parents=True)
    ran = tmp_path / "ran"
    for name in ("json.py", "trainwarden/__init__.py", "numpy.py", "asked_for.py"):
        (hostile / name).write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
    rule = tmp_path / "own" / "needs_a_module.py"
    rule.parent.mkdir()
    rule.write_text(
        "from trainwarden.rules import rule\n"
        "import neighbour\n"
        "try:\n    import asked_for\nexcept ImportError:\n    pass\n"
        "@rule\ndef holds(window):\n    return neighbour.ANSWER\n"
    )
    (rule.parent / "neighbour.py").write_text("ANSWER = True\n")
    monkeypatch.chdir(hostile)
    (status,) = rules.run(finished, f"{rule}:holds").statuses
    assert status.outcomes[Outcome.OK] == 6, status.details
    assert not ran.exists(), ran.read_text()
