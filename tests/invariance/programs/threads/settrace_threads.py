"""threading.setprofile and settrace are those of the program, and see its threads alone."""
import threading
import torch
import seen

names = set()


def tracer(frame, event, arg):
    names.add(threading.current_thread().name)


threading.setprofile(tracer)
net = seen.small_net()
thread = threading.Thread(target=seen.train, args=(net, 12), name="training")
thread.start()
thread.join()
threading.setprofile(None)
seen.train(net, 12)
print(sorted(names), threading._profile_hook, seen.digest(net))
