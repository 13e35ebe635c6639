"""The names, kinds and idents of all threads that Python knows, during the training and after it."""
import sys
import threading
import seen

found = set()


def look(step):
    for thread in threading.enumerate():
        found.add((type(thread).__name__, thread.name, thread.daemon))
    found.add(("frames", len(sys._current_frames()), False))


net = seen.small_net()
seen.train(net, 40, each=look)
print(sorted(found, key=str), threading.active_count(), seen.digest(net))
