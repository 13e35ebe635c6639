"""Forward hooks that change outputs, pre-hooks that change inputs, backward hooks that change gradients."""
import torch
import seen

net = seen.small_net()
net[0].register_forward_pre_hook(lambda module, args: (args[0] + 1,))
net[0].register_forward_hook(lambda module, args, output: output * 2)
net[2].register_full_backward_hook(lambda module, given, got: (given[0] * 0.5,))
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for step in range(30):
    optimizer.zero_grad()
    output = net(torch.randn(8, 4))
    output.register_hook(lambda gradient: gradient.clamp(-0.1, 0.1))
    torch.nn.functional.mse_loss(output, torch.ones(8, 1)).backward()
    optimizer.step()
print(seen.digest(net))
