"""Second derivatives by create_graph, retained graphs, and several backward passes of one forward pass."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(20):
    x = torch.randn(8, 4, requires_grad=True)
    output = net(x)
    (slope,) = torch.autograd.grad(output.sum(), x, create_graph=True)
    optimizer.zero_grad()
    output.pow(2).mean().backward(retain_graph=True)
    slope.pow(2).mean().backward(retain_graph=True)
    torch.autograd.backward([output.sum(), slope.sum()], [torch.tensor(0.1), torch.tensor(0.2)])
    optimizer.step()
hessian = torch.autograd.functional.hessian(lambda x: net(x).pow(2).sum(), torch.ones(2, 4))
print(seen.digest_of(hessian), seen.digest(net))
