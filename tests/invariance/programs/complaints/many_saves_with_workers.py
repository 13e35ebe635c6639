"""clearml#207: many checkpoints in a row while the workers of a loader live; nothing freezes."""
import torch
from torch.utils.data import DataLoader
import seen

if __name__ == "__main__":
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    data = torch.arange(160.0).reshape(40, 4) / 100
    for epoch in range(3):
        for index, x in enumerate(DataLoader(data, 4, num_workers=3)):
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
            torch.save({"net": net.state_dict(), "epoch": epoch}, f"checkpoint-{index}.pt")
    print(index, seen.digest(net))
