"""An exception in a worker of a DataLoader comes out in the training with its text."""
import torch
from torch.utils.data import DataLoader, Dataset
import seen


class Data(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        if index == 9:
            raise KeyError("nine")
        return torch.ones(4)


if __name__ == "__main__":
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    done = 0
    try:
        for x in DataLoader(Data(), 4, num_workers=1):
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
            done += 1
    except KeyError as error:
        print(str(error).split("\\n")[0].split("Original")[0][:60], str(error).count("nine"))
    print(done, seen.digest(net))
