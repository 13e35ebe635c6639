"""clearml#605, clearml#674, clearml#790: os.fork, BaseProcess.run and Popen are Python's own; a pool does not hang."""
import multiprocessing
import multiprocessing.process
import os
import subprocess
import threading
import seen



def functions():
    run = multiprocessing.process.BaseProcess.run
    return os.fork, os._exit, run, subprocess.Popen.__init__, threading.Thread.start


before = functions()
net = seen.small_net()


def square(number):
    return number * number


if __name__ == "__main__":
    seen.train(net, 15)
    print([one is other for one, other in zip(before, functions())], type(os.fork).__name__)
    for _ in range(3):
        with multiprocessing.get_context("fork").Pool(3) as pool:
            print(sum(pool.imap_unordered(square, range(50))))
        seen.train(net, 5)
    print(seen.digest(net))
