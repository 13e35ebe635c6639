"""torch.jit.script of functions that call losses of torch.nn.functional."""
import torch
import torch.nn.functional as F
import seen


@torch.jit.script
def loss_of(x: torch.Tensor, y: torch.Tensor):
    return F.mse_loss(x, y) + F.l1_loss(x, y) + F.smooth_l1_loss(x, y)


@torch.jit.script
def activated(x: torch.Tensor):
    return F.relu(x) + F.softmax(x, 1) + F.tanh(x)


net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    loss_of(activated(net(torch.randn(8, 4))), torch.ones(8, 1)).backward()
    optimizer.step()


@torch.jit.script
def late(x: torch.Tensor, y: torch.Tensor):
    return F.cross_entropy(x, y) + F.mse_loss(x, x)


print(late(torch.ones(2, 3), torch.zeros(2, dtype=torch.long)).item(), loss_of.code, seen.digest(net))
