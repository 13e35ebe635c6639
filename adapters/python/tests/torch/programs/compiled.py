"""torch.compile, the whole model without a graph break; prints what the compiler did."""

import sys

import torch
from torch import nn
from torch._dynamo.utils import counters

from outcome import report, sees


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def main(backend, how):
    torch.manual_seed(13)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    if how == "module":
        compiled = torch.compile(model, backend=backend, fullgraph=True)
    elif how == "in_place":
        model.compile(backend=backend, fullgraph=True)
        compiled = model
    else:
        compiled = torch.compile(lambda x: model(x), backend=backend, fullgraph=True)
    whole = torch.compile(lambda x, y: criterion(compiled(x), y), backend=backend)
    for step in range(4):
        optimizer.zero_grad()
        x, y = torch.randn(5, 4), torch.randint(0, 3, (5,))
        output = compiled(x)
        loss = criterion(output, y)
        loss.backward()
        sees("gradient/fc1.weight", model.fc1.weight.grad)
        optimizer.step()
        sees("CrossEntropyLoss_output_0", loss)
        sees("fc1.weight", model.fc1.weight)
        sees("Net_output_0", output)
        with torch.no_grad():
            print(f"step {step} loss {loss.item():.17g} {whole(x, y).item():.17g}")
    for kind in ("stats", "graph_break", "unimplemented", "recompiles"):
        print(kind, sorted((str(name), count) for name, count in counters[kind].items()))
    report(model)


if __name__ == "__main__":
    main(*sys.argv[1:])
