"""A process by spawn trains; its exit code comes back."""
import multiprocessing
import sys
import torch
import seen


def work(steps):
    net = seen.small_net()
    seen.train(net, steps)
    print("child", multiprocessing.current_process().name, seen.digest(net), flush=True)
    sys.exit(9)


if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work, args=(20,), name="spawned")
    process.start()
    process.join()
    print("parent", process.exitcode)
