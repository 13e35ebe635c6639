"""The black box: from a NaN to the batch that made it, and the step again, bit for bit."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import trainwarden

from running import clean_environment

REPOSITORY = Path(__file__).resolve().parents[4]
EXAMPLES = REPOSITORY / "examples" / "black_box"
BROKEN_BATCH = 11


def dumps_of(run_dir: Path) -> list[Path]:
    return sorted((run_dir / "blackbox").glob("step-*"))


def replay_of(dump: Path) -> dict[str, Any]:
    return json.loads((dump / "replay.json").read_text())  # type: ignore[no-any-return]


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))


def train(run_dir: Path, steps: int, broken: int) -> list[float]:
    """A loop with a hook of its own; the batch `broken` has a NaN. The losses, in order."""
    torch.manual_seed(3)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with trainwarden.Hook(run_dir, black_box=3) as hook:
        hook.set_mode("train")
        for step in range(steps):
            indices = torch.arange(step * 4, step * 4 + 4)
            hook.remember("trainwarden/batch/indices", indices)
            hook.remember("trainwarden/rng/torch", torch.get_rng_state())
            batch = torch.sin(indices[:, None] * torch.arange(8.0))
            if step == broken:
                batch[2, 5] = float("nan")
            labels = indices % 2
            hook.remember("batch", batch)
            hook.remember("labels", labels)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(batch), labels)
            loss.backward()
            optimizer.step()
            for name, parameter in model.named_parameters():
                hook.save_tensor(name, parameter.detach())
                hook.save_tensor(f"gradient/{name}", parameter.grad)
            hook.save_tensor("cross_entropy_loss_output_0", loss.detach())
            losses.append(loss.item())
            hook.step()
    return losses


def test_a_nan_is_led_to_its_batch_and_replayed_bit_for_bit(run_dir: Path) -> None:
    losses = train(run_dir, steps=30, broken=BROKEN_BATCH)
    (dump,) = dumps_of(run_dir)
    assert dump.name == f"step-{BROKEN_BATCH:06}-rank-00000"
    replay = replay_of(dump)
    assert replay["why"]["kind"] == "loss" and replay["failing_step"] == BROKEN_BATCH
    assert replay["skip"] == [{"global_step": BROKEN_BATCH, "indices": list(range(44, 48))}]
    assert replay["generator_states"] == ["trainwarden/rng/torch"]

    held = trainwarden.open(dump)
    assert held.steps() == [8, 9, 10, 11], "the three before, and the one that has just ended"
    assert np.isnan(held.value("batch", BROKEN_BATCH)[2, 5])

    def tensor(name: str, step: int) -> torch.Tensor:
        return torch.from_numpy(held.value(name, step).copy())

    for step in (10, 11):
        model = network()
        model.load_state_dict({name: tensor(name, step - 1) for name in model.state_dict()})
        torch.set_rng_state(tensor("trainwarden/rng/torch", step))
        loss = nn.functional.cross_entropy(model(tensor("batch", step)), tensor("labels", step))
        loss.backward()
        assert np.array_equal(loss.item(), losses[step], equal_nan=True)
        for name, parameter in model.named_parameters():
            assert np.array_equal(parameter.grad, held.value(f"gradient/{name}", step), equal_nan=True), name
    assert trainwarden.open(run_dir).tensor_names(collection="weights") == [], "nothing of it is in the run"


def test_a_healthy_training_leaves_none(run_dir: Path) -> None:
    train(run_dir, steps=5, broken=-1)
    assert dumps_of(run_dir) == []


def test_it_may_be_asked_for(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, black_box={"steps": 2, "bytes": "1MiB"}) as hook:
        assert hook.remembers
        assert not hook.dump_black_box("too early")
        hook.remember("x", np.arange(3))
        assert hook.dump_black_box("just so")
        hook.flush()
        report = hook.report().black_box
        assert report.on and report.bytes <= 1 << 20 and report.dumps == ["blackbox/step-000000-rank-00000"]
        with pytest.raises(TypeError):
            hook.remember("y", object())
    assert not hook.remembers
    assert replay_of(dumps_of(run_dir)[0])["why"]["message"] == "just so"


def run_python(text: str, run_dir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    program = f"import trainwarden\nhook = trainwarden.Hook({str(run_dir)!r}, black_box=3)\nhook.save_scalar('s', 1)\n{text}"
    command = [sys.executable, *options, "-c", program]
    return subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)


def test_an_exception_that_nobody_handles_is_why(run_dir: Path) -> None:
    ended = run_python("raise ValueError('no such layer')", run_dir)
    assert ended.returncode == 1 and ended.stderr.endswith("ValueError: no such layer\n")
    (dump,) = dumps_of(run_dir)
    why = replay_of(dump)["why"]
    assert (why["kind"], why["message"]) == ("exception", "ValueError: no such layer")


def test_a_program_that_just_ends_leaves_none(run_dir: Path) -> None:
    assert run_python("raise SystemExit(3)", run_dir).returncode == 3
    assert dumps_of(run_dir) == []


def test_a_crash_is_told_by_faulthandler_as_well(run_dir: Path) -> None:
    ended = run_python("import ctypes; ctypes.string_at(0)", run_dir, "-X", "faulthandler")
    assert ended.returncode == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in ended.stderr
    assert replay_of(dumps_of(run_dir)[0])["why"]["signal"] == "SIGSEGV"


def test_the_guide_leads_from_the_nan_to_its_sample(tmp_path: Path) -> None:
    run_dir = tmp_path / "nan"
    asked = {"TRAINWARDEN_ATTACH": "1", "TRAINWARDEN_BLACK_BOX": "3", "TRAINWARDEN_RUN_DIR": str(run_dir)}
    environment = {**clean_environment(), **asked}
    subprocess.run([sys.executable, str(EXAMPLES / "train.py")], env=environment, capture_output=True, check=True)
    dump = dumps_of(run_dir)[0]
    told = subprocess.run([sys.executable, str(EXAMPLES / "replay.py"), str(dump)], env=clean_environment(),
                          capture_output=True, text=True, check=True).stdout
    assert "why: CrossEntropyLoss_output_0 is not a finite number\n" in told
    assert "loss: nan\n" in told
    samples = json.loads(re.search(r"samples to skip: (\[.*\])", told)[1])  # type: ignore[index]
    (row,) = json.loads(re.search(r"rows that are not finite: (\[.*\])", told)[1])  # type: ignore[index]
    assert samples[row] == 1234, "the broken sample of train.py"


def test_the_snippets_of_the_guide_are_in_the_programs() -> None:
    program = [line.strip() for line in (EXAMPLES / "replay.py").read_text().splitlines() if line.strip()]
    snippets = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/guide/black-box.md").read_text(), re.S)
    assert snippets
    for snippet in snippets:
        part = [line.strip() for line in snippet.splitlines() if line.strip()]
        assert any(program[index : index + len(part)] == part for index in range(len(program) - len(part) + 1))
