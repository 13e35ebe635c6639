"""Imports of the program: its own modules win over those of the same name that others may have imported before."""
import importlib
import os
import sys

names = [
    "hook", "faults", "errors", "jobs", "rules", "steps", "trial", "stacks", "control", "options", "guard",
    "transfer", "arrays", "losses", "models", "session", "watcher", "parameters", "recorder", "signals", "saving",
    "statistics",
]
sys.path.insert(0, os.getcwd())
for name in names:
    with open(name + ".py", "w") as file:
        file.write("mine = True\nprint('imported', __name__)\n")
import torch
import seen

net = seen.small_net()
seen.train(net, 20)
print("now")
for name in names:
    print(name, getattr(importlib.import_module(name), "mine", False))
for name in names:
    os.remove(name + ".py")
print(seen.digest(net))
