"""Two processes train one model in shared memory, one after the other."""
import torch
import torch.multiprocessing as mp
import seen


def work(net, seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    seen.train(net, 15)


if __name__ == "__main__":
    net = seen.small_net().share_memory()
    context = mp.get_context("fork")
    for seed in range(2):
        process = context.Process(target=work, args=(net, seed))
        process.start()
        process.join()
        print(process.exitcode, seen.digest(net), all(each.is_shared() for each in net.parameters()))
