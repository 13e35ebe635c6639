"""An exception that nobody catches, raised in forward()."""
import torch
import seen


class Net(torch.nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        Net.calls += 1
        if Net.calls == 30:
            raise RuntimeError("in the 30th call")
        return self.linear(x)


torch.manual_seed(0)
seen.train(Net(), 50)
