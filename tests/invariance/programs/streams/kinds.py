"""Terminals, pipes and files: what the three streams are, their modes, flags and positions."""
import fcntl
import os
import stat
import sys
import seen

net = seen.small_net()
seen.train(net, 10)
for number in range(3):
    mode = os.fstat(number).st_mode
    flags = fcntl.fcntl(number, fcntl.F_GETFL) & ~0o100000
    print(number, stat.filemode(mode), os.isatty(number), oct(flags), fcntl.fcntl(number, fcntl.F_GETFD), flush=True)
print(sys.stdin.read(), sys.stdin.isatty(), sys.stdout.isatty(), os.get_terminal_size.__name__)
