"""A progress bar with carriage returns, and losses that are printed with the learning rate."""
import sys
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(30):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(torch.randn(8, 4)), torch.ones(8, 1))
    loss.backward()
    optimizer.step()
    sys.stdout.write(f"\r{step:3d}/30 loss: {loss.item():.4f}")
    sys.stderr.write(f"\repoch {step}")
print()
print(loss, "%s" % loss, f"{loss:.5f}", repr(loss), str(net), seen.digest(net))
