"""A multiprocessing.Process trains and sends its weights back through a queue."""
import multiprocessing
import torch
import seen


def work(queue):
    torch.set_num_threads(1)
    net = seen.small_net()
    seen.train(net, 20)
    queue.put({name: value.tolist() for name, value in net.state_dict().items()})


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    state = queue.get(timeout=30)
    process.join()
    net = seen.small_net()
    net.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    print(process.exitcode, seen.digest(net))
