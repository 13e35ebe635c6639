"""A real training of PyTorch that saves and loads with torch.save and torch.load in its job's checkpoint folder.

usage: torch_train.py JOURNAL SECONDS STEPS

A step of the journal is four of the optimizer.
"""
import os
import sys
import time

from journal import Journal

journal = Journal(sys.argv[1])

import torch  # noqa: E402 (the journal tells of the start before this takes its seconds)

torch.manual_seed(7)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = torch.nn.CrossEntropyLoss()
path = os.path.join(os.environ["TRAINWARDEN_CHECKPOINT_DIR"], "last.pt")
first = 0
if os.path.exists(path):
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    torch.set_rng_state(saved["generator"])
    first = saved["step"] + 1
for step in range(first, int(sys.argv[3])):
    time.sleep(float(sys.argv[2]))
    for _ in range(4):
        optimizer.zero_grad()
        criterion(model(torch.randn(8, 16)), torch.randint(4, (8,))).backward()
        optimizer.step()
    journal.write(f"step {step}")
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": torch.get_rng_state(),
            "step": step,
        },
        path,
    )
journal.write("end")
