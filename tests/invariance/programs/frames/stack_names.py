"""The names of functions and files in the stack, as logging and profilers of others take them."""
import os
import sys
import torch
import seen

stacks = set()


def names():
    frame, found = sys._getframe(1), []
    while frame is not None:
        found.append(os.path.basename(frame.f_code.co_filename) + ":" + frame.f_code.co_name)
        frame = frame.f_back
    return tuple(found)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        stacks.add(names())
        return self.linear(x)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(40):
    optimizer.zero_grad()
    torch.nn.MSELoss()(net(torch.randn(8, 4)), torch.ones(8, 1)).backward()
    optimizer.step()
print(*sorted(stacks), sep="\n")
