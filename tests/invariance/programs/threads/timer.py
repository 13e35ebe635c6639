"""A Timer fires in the middle of the training, and saves the model."""
import threading
import torch
import seen

done = threading.Event()
net = seen.small_net()


def save():
    torch.save(net.state_dict(), "timed.pt")
    done.set()


timer = threading.Timer(0.05, save)
timer.start()
seen.train(net, 200)
done.wait(5)
timer.join()
print(sorted(torch.load("timed.pt")), threading.active_count(), seen.digest(net))
