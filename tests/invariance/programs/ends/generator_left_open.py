"""The program ends while generators, loaders with workers and threads of executors are open."""
import concurrent.futures
import torch
from torch.utils.data import DataLoader
import seen


def endless():
    try:
        while True:
            yield torch.randn(8, 4)
    finally:
        print("closed", flush=True)


if __name__ == "__main__":
    net = seen.small_net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    source = endless()
    loader = iter(DataLoader(torch.randn(80, 4), 4, num_workers=1))
    pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.submit(int, 3).result()
    for step in range(10):
        optimizer.zero_grad()
        (net(next(source)).pow(2).mean() + net(next(loader)).mean()).backward()
        optimizer.step()
    print(seen.digest(net), flush=True)
