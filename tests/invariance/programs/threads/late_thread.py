"""A thread that is no daemon trains on after the main thread has ended."""
import threading
import torch
import seen


def work(main):
    main.join()
    net = seen.small_net()
    seen.train(net, 30)
    print("trained", seen.digest(net), flush=True)


thread = threading.Thread(target=work, args=(threading.main_thread(),))
thread.start()
print("main ends", flush=True)
