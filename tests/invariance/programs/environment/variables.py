"""os.environ without the documented names of ours: nothing more, nothing less, and nothing changes in a training."""
import os
import seen


def shown():
    return {name: value for name, value in os.environ.items() if not name.startswith("TRAINWARDEN_")}


before = shown()
net = seen.small_net()
seen.train(net, 20)
after = shown()
print(before == after, sorted(before), before.get("LD_PRELOAD"), before.get("PYTHONPATH"), before.get("PYTHONSTARTUP"))
print(before.get("MALLOC_ARENA_MAX"), before.get("OMP_NUM_THREADS"), before.get("PATH"), os.getenv("LD_LIBRARY_PATH"))
