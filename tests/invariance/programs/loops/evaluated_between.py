"""Evaluation after each ten steps, in train mode by mistake, then in evaluation mode, with early stopping."""
import copy
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.05)
held_out = torch.randn(64, 4)
best, kept, waited = float("inf"), None, 0
for step in range(200):
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    torch.nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
    if step % 10 == 9:
        net.train(step % 20 == 9)
        with torch.no_grad():
            value = torch.nn.functional.mse_loss(net(held_out), held_out.sum(1, keepdim=True)).item()
        net.train()
        waited = 0 if value < best else waited + 1
        if value < best:
            best, kept = value, copy.deepcopy(net.state_dict())
        if waited == 3:
            break
net.load_state_dict(kept)
print(step, "%.6f" % best, seen.digest(net))
