"""A training in a coroutine of asyncio, with locals() in it and two tasks in turn."""
import asyncio
import torch
import seen


async def train(seed, rate=0.1):
    config = locals()
    torch.manual_seed(seed)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), rate)
    generator = torch.Generator().manual_seed(seed)
    for step in range(15):
        optimizer.zero_grad()
        net(torch.randn(8, 4, generator=generator)).pow(2).mean().backward()
        optimizer.step()
        await asyncio.sleep(0)
    return config["rate"], seen.digest(net)


async def main():
    print(await asyncio.gather(train(1), train(2)))
    print(len(asyncio.all_tasks()))


asyncio.run(main())
