"""The program becomes another program at its end."""
import os
import seen

net = seen.small_net()
seen.train(net, 20)
print(seen.digest(net), flush=True)
os.execvp("sh", ["sh", "-c", "echo other $#; exit 9", "sh", "a", "b"])
