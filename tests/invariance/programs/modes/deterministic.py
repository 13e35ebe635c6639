"""use_deterministic_algorithms(True), with what raises under it caught by the program."""
import torch
import seen

torch.use_deterministic_algorithms(True)
net = seen.small_net(outputs=3)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(3, (8,))).backward()
    optimizer.step()
print(torch.are_deterministic_algorithms_enabled(), seen.digest(net))
