"""Three trainings in threads of one process at once (actors of reinforcement learning, Hogwild in threads)."""
import threading
import torch
import seen

torch.set_num_threads(1)
results = {}


def work(number):
    generator = torch.Generator().manual_seed(number)
    net = torch.nn.Linear(4, 1)
    with torch.no_grad():
        net.weight.fill_(0.1 * (number + 1))
        net.bias.zero_()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for step in range(100):
        optimizer.zero_grad()
        net(torch.randn(8, 4, generator=generator)).pow(2).mean().backward()
        optimizer.step()
    results[number] = seen.digest(net)


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
