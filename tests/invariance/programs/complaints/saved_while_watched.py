"""wandb#5573, wandb#2588, wandb#961: torch.save of the whole model and its copy in half precision."""
import copy
import io
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
sizes = []
for epoch in range(4):
    seen.train(net, 8, optimizer)
    for thing in (net, copy.deepcopy(net).half(), {"model": net, "optimizer": optimizer.state_dict(), "epoch": epoch}):
        buffer = io.BytesIO()
        torch.save(thing, buffer)
        sizes.append(len(buffer.getvalue()))
print(sizes, seen.digest(net))
