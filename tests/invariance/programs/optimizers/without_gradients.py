"""step() without any gradient, with gradients set by hand, set to None in between, and shared ones."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for step in range(30):
    optimizer.zero_grad(set_to_none=step % 2 == 0)
    if step % 3 == 1:
        net(torch.randn(8, 4)).pow(2).mean().backward()
    elif step % 3 == 2:
        shared = torch.full((8, 4), 0.1)
        net[0].weight.grad = shared
        net[0].bias.grad = shared[:, 0]
    optimizer.step()
print([each.grad is None for each in net.parameters()], seen.digest(net))
