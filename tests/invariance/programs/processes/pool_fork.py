"""multiprocessing.Pool by fork evaluates a model between two halves of its training."""
import multiprocessing
import torch
import seen

net = seen.small_net()


def evaluate(number):
    with torch.no_grad():
        return round(net(torch.full((1, 4), float(number))).item(), 6)


if __name__ == "__main__":
    torch.set_num_threads(1)
    seen.train(net, 20)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(evaluate, range(6)))
    seen.train(net, 20)
    print(multiprocessing.active_children(), seen.digest(net))
