"""Losses become NaN at some steps; the program sees it and skips or restores."""
import copy
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
kept, skipped = copy.deepcopy(net.state_dict()), []
for step in range(40):
    optimizer.zero_grad()
    x = torch.randn(8, 4)
    if step % 9 == 5:
        x[0, 0] = float("nan")
    loss = net(x).pow(2).mean()
    if not torch.isfinite(loss):
        skipped.append(step)
        if step > 20:
            net.load_state_dict(kept)
        continue
    loss.backward()
    optimizer.step()
    kept = copy.deepcopy(net.state_dict())
print(skipped, seen.digest(net))
