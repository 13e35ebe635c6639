"""A training that goes on for some steps before anything is compiled: the model ("model"), the whole of the optimizer's step
with the schedule that was made before ("step"), or an export of the model that traces it strictly ("export")."""

import sys

import torch
from torch import nn
from torch._dynamo.utils import counters

from outcome import report, sees


def main(what):
    torch.manual_seed(19)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-2), capturable=False, foreach=False)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    criterion = nn.CrossEntropyLoss()
    step_once = optimizer.step
    for step in range(8):
        if step == 4 and what == "model":
            model.compile(backend="eager", fullgraph=True)
        elif step == 4 and what == "step":
            step_once = torch.compile(optimizer.step, backend="eager")
        elif step == 4 and what == "export":
            print(len(list(torch.export.export(model, (torch.randn(5, 4),), strict=True).graph.nodes)))
        x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        sees("gradient/0.weight", model[0].weight.grad)
        step_once()
        schedule.step()
        sees("CrossEntropyLoss_output_0", loss)
        sees("0.weight", model[0].weight)
        print(f"step {step} loss {loss.item():.17g}")
    for kind in ("stats", "graph_break", "unimplemented", "recompiles"):
        print(kind, sorted((str(name), count) for name, count in counters[kind].items()))
    report(model)


if __name__ == "__main__":
    main(sys.argv[1])
