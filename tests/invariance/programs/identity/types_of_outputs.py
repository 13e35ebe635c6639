"""Types of what a training gives: outputs, losses, gradients, graph nodes with their metadata, batches."""
import torch
from torch.utils.data import DataLoader
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
found = set()
for x in DataLoader(torch.randn(80, 4), 4):
    optimizer.zero_grad()
    output = net(x)
    loss = torch.nn.functional.mse_loss(output, torch.ones(4, 1))
    found.add((type(x).__name__, type(output).__name__, type(loss.grad_fn).__name__, len(loss.grad_fn.metadata)))
    found.add(("hooks", str(output._backward_hooks), str(loss._backward_hooks)))
    found.add(("notes", *sorted(map(str, loss.grad_fn.metadata))))
    found.add(("returned", type(loss.backward()).__name__, type(optimizer.step()).__name__))
    found.add(("grads", *(type(each.grad).__name__ for each in net.parameters())))
    found.add(("hooks of weights", *(str(each._backward_hooks) for each in net.parameters())))
    found.add(("dicts", *(str(vars(each)) for each in (output, loss, x))))
print(*sorted(found), sep="\n")
