"""Runs the step again that made the loss of train.py NaN, from what the black box holds: python replay.py DUMP"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

import trainwarden

dump = Path(sys.argv[1])
replay = json.loads((dump / "replay.json").read_text())
step = replay["failing_step"]
print("why:", replay["why"]["message"])
print("samples to skip:", replay["skip"][0]["indices"])

held = trainwarden.open(dump)


def tensor(name, at):
    return torch.from_numpy(held.value(name, at).copy())


# Weights are kept after the optimizer has changed them: those that the step began with are the last step's.
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 2))
model.load_state_dict({name: tensor(name, step - 1) for name in model.state_dict()})
(batch,) = (tensor(name, step) for name in held.tensor_names(collection="batch_inputs", step=step))
(targets,) = (tensor(name, step) for name in held.tensor_names(collection="labels", step=step))
torch.set_rng_state(tensor("trainwarden/rng/torch", step))
loss = nn.CrossEntropyLoss()(model(batch), targets)

print("loss:", loss.item())
print("rows that are not finite:", (~batch.isfinite().all(dim=1)).nonzero().flatten().tolist())
