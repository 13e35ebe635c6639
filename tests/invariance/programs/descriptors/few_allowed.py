"""RLIMIT_NOFILE is low, and the program opens all that it may."""
import resource
import seen

resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
net = seen.small_net()
seen.train(net, 20)
files = []
try:
    while True:
        files.append(open("/dev/null"))
except OSError as error:
    print(error.errno, len(files))
seen.train(net, 100)
print(seen.digest(net))
