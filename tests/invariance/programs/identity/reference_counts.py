"""sys.getrefcount of models, optimizers, outputs, losses and parameters, in and after a training."""
import sys
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
found = set()
for step in range(40):
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    output = net(x)
    loss = torch.nn.functional.mse_loss(output, torch.ones(8, 1))
    counts = [sys.getrefcount(each) for each in (x, output, loss, net, optimizer)]
    loss.backward()
    optimizer.step()
    found.add((*counts, *(sys.getrefcount(each) for each in (x, output, loss))))
print(sorted(found), [sys.getrefcount(each) for each in (net[0], net[0].weight, optimizer.param_groups)])
