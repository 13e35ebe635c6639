"""Functions of atexit, finalizers and destructors run in their order; one trains, one raises."""
import atexit
import weakref
import torch
import seen


class Thing:
    def __del__(self):
        print("thing goes", flush=True)


@atexit.register
def first():
    print("first registered", seen.digest(net), flush=True)


net = seen.small_net()
thing = Thing()
weakref.finalize(net, print, "net finalized", flush=True)
seen.train(net, 20)


@atexit.register
def trains():
    seen.train(net, 5)
    print("trained at exit", seen.digest(net), flush=True)


@atexit.register
def fails():
    raise ValueError("at exit")


print("ends", atexit._ncallbacks() > 0)
