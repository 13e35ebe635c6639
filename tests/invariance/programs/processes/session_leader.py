"""setsid, setpgid and a controlling terminal's absence; the group of the program is what it makes of it."""
import os
import signal
import seen

net = seen.small_net()
seen.train(net, 10)
try:
    os.setpgid(0, 0)
except PermissionError:  # it leads its session
    pass
print("own group", os.getpgrp() == os.getpid())
got = []
signal.signal(signal.SIGTERM, lambda number, frame: got.append(number))
os.killpg(os.getpgrp(), signal.SIGTERM)
seen.train(net, 30)
print(got, seen.digest(net))
