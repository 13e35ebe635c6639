"""Gradients are scaled, clipped, noised and zeroed between backward() and step(); their identity is kept."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
ids = set()
norms = []
for step in range(30):
    optimizer.zero_grad(set_to_none=False)
    net(torch.randn(8, 4)).pow(2).mean().backward()
    norms.append(round(torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5).item(), 5))
    torch.nn.utils.clip_grad_value_(net.parameters(), 0.2)
    for each in net.parameters():
        each.grad.add_(0.001 * torch.randn_like(each.grad))
        ids.add(id(each.grad))
    optimizer.step()
print(len(ids), seen.digest_of(*norms), seen.digest(net), seen.random_states())
