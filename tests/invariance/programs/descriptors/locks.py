"""POSIX locks and flock() of files of the program's are held through its training."""
import fcntl
import os
import subprocess
import sys
import seen

code = """
import fcntl, sys
for name in ("one", "two"):
    with open(name, "r+") as file:
        try:
            (fcntl.lockf if name == "one" else fcntl.flock)(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print(name, "free")
        except OSError:
            print(name, "held")
"""
one, two = open("one", "w"), open("two", "w")
fcntl.lockf(one, fcntl.LOCK_EX)
fcntl.flock(two, fcntl.LOCK_EX)
net = seen.small_net()
seen.train(net, 50)
print(subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True).stdout, seen.digest(net))
