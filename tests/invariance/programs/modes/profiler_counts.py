"""The program's own torch.profiler around some steps counts its operators."""
import re
import torch
from torch.profiler import ProfilerActivity, profile, record_function
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)


def train(steps):
    for step in range(steps):
        optimizer.zero_grad()
        with record_function("forward"):
            loss = torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1))
        loss.backward()
        optimizer.step()


train(3)
with profile(activities=[ProfilerActivity.CPU]) as first:
    train(12)
with torch.autograd.profiler.profile() as second:
    train(4)
for each in (first, second):
    # Whether torch divides in place, or resolves a view, hangs on chance.
    print(sorted((event.key, event.count) for event in each.key_averages() if not re.search("div|resolve", event.key)))
print(seen.digest(net))
