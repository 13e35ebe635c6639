"""wandb#2157: the output of a module is a view that the program changes in place; a hook on it forbids that."""
import torch
import seen

net = seen.small_net(outputs=4)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(25):
    optimizer.zero_grad()
    output = net(torch.randn(8, 4))
    halves = output[:, :2], output.view(4, 8)
    halves[0].mul_(2)
    halves[1].add_(1)
    torch.nn.functional.leaky_relu(output, 0.1, inplace=True)
    output.mean().backward()
    optimizer.step()
print(output._version, seen.digest(net))
