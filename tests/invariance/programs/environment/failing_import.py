"""Local modules that are named as frameworks: one fails, with the traceback of its own lines alone; one is a stub."""
import os
import sys
import traceback

sys.path.insert(0, os.getcwd())
with open("jax.py", "w") as file:
    file.write("raise ImportError('no jax here')\n")
with open("keras.py", "w") as file:
    file.write("layers = 'mine'\n")
for name in ("jax", "keras", "xgboost"):
    try:
        module = __import__(name)
        names = sorted(each for each in vars(module) if not each.startswith("__"))
        print(name, names, type(module.__loader__).__name__)
    except ImportError as error:
        frames = [each.filename.split("/")[-1] for each in traceback.extract_tb(error.__traceback__)]
        print(type(error).__name__, error, frames, name in sys.modules)
import seen

net = seen.small_net()
seen.train(net, 20)
print(seen.digest(net))
