"""TensorBoard is shown the run while it is written."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
import torch
from torch import nn

import smdebug.pytorch as smd

_READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from pathlib import Path
found = {}
for folder in sorted({file.parent for file in Path(sys.argv[1]).rglob("*tfevents*")}):
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "histograms": 0})
    events.Reload()
    for tag in events.Tags()["scalars"]:
        found.setdefault(tag, []).extend(event.step for event in events.Scalars(tag))
    for tag in events.Tags()["histograms"]:
        found.setdefault(tag, []).extend(event.step for event in events.Histograms(tag))
print(json.dumps(found))
"""


def tags(python: str, folder: Path) -> dict[str, list[int]]:
    """Steps by tag, as TensorBoard itself reads them."""
    import json

    done = subprocess.run([python, "-c", _READ, str(folder)], capture_output=True, text=True, check=True)
    found: dict[str, list[int]] = json.loads(done.stdout.splitlines()[-1])
    return found


def train(hook: smd.Hook, steps: int) -> nn.Module:
    model, loss = nn.Linear(3, 2), nn.MSELoss()
    hook.register_module(model)
    hook.register_loss(loss)
    for step in range(steps):
        loss(model(torch.randn(4, 3)), torch.zeros(4, 2)).backward()
        hook.save_scalar("accuracy", step / 2)
    return model


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*tfevents*") if file.stat().st_size > 0]


def test_scalars_losses_and_histograms(rivals_python: str, run_dir: Path) -> None:
    hook = smd.Hook(
        run_dir,
        export_tensorboard=True,
        save_config=smd.SaveConfig(save_interval=2),
        include_collections=["weights", "biases"],
    )
    assert hook.tensorboard_dir == str(run_dir / "tensorboard")
    train(hook, 4)
    hook.close()
    found = tags(rivals_python, run_dir / "tensorboard")
    by_tensor = {tag.rsplit("/", 1)[-1]: steps for tag, steps in found.items()}
    assert by_tensor["accuracy"] == [0, 1, 2, 3]
    assert by_tensor["MSELoss_output_0"] == [0, 2]
    assert by_tensor["Linear_weight"] == [0, 2]


def test_it_is_shown_while_the_training_runs(tmp_path: Path) -> None:
    hook = smd.Hook(tmp_path / "run", tensorboard_dir=tmp_path / "board", save_config=smd.SaveConfig(save_interval=1))
    train(hook, 3)
    deadline = time.monotonic() + 60
    while not files_in(tmp_path / "board"):
        assert time.monotonic() < deadline, "nothing was exported while the hook was open"
        time.sleep(0.05)
    hook.close()


def test_training_goes_on_when_nothing_can_be_shown(tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    hook = smd.Hook(tmp_path / "run", tensorboard_dir=tmp_path / "file" / "board", save_all=True)
    model = train(hook, 2)
    assert model.weight.grad is not None
    hook.close()
    assert "TensorBoard is not shown the run" in log.text
