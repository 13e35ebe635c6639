"""The command run_e2eaiok: its options become settings, and its exit code says whether the target was met."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2eAIOK import command_line


def test_options_become_settings() -> None:
    words = ["--model_name", "bert", "--data_path", "squad", "--enable_sigopt", "--conf", "a.yaml", "--no_model_cache"]
    assert command_line.settings_of(words) == {
        "model_name": "bert", "data_path": "squad", "enable_sigopt": True, "conf": "a.yaml",
        "enable_model_cache": False,
    }  # fmt: skip


def test_what_is_wrong_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--data_path", "squad"])
    assert ended.value.code == 2 and "--model_name" in capsys.readouterr().err
    assert command_line.main(["--model_name", "dlrm"]) == 2
    assert 'the model "dlrm" has a trainer in Intel\'s kit and none here' in capsys.readouterr().err
    assert command_line.main(["--model_name", "bert", "--data_path", "nowhere"]) == 2
    assert "found none in nowhere" in capsys.readouterr().err


def test_a_missed_target_is_the_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A model that is known to the command, trained by the quick program of these tests."""
    model = tmp_path / "data/model"
    model.mkdir(parents=True)
    for file in ("model/config.json", "model/model.safetensors", "train-v1.1.json", "dev-v1.1.json"):
        (tmp_path / "data" / file).touch()
    trainer = tmp_path / "trainer"
    trainer.write_text('#!/bin/sh\nwhile [ "$1" != --out ]; do shift; done\nmkdir -p "$2"\n'
                       'echo \'{"after": {"f1": 40}}\' > "$2/result.json"\n')  # fmt: skip
    trainer.chmod(0o755)
    (tmp_path / "conf.yaml").write_text("metric_threshold: 90\n")
    monkeypatch.chdir(tmp_path)
    words = ["--model_name", "bert", "--data_path", "data", "--program", str(trainer), "--conf", "conf.yaml"]
    assert command_line.main(words) == 5
    assert capsys.readouterr().out.startswith("The target was not met (f1 at least 90)")
