"""The program goes to another folder while it trains, removes the first one, and has a umask that lets nobody in."""
import os
import shutil
import seen

net = seen.small_net()
os.makedirs("first")
os.makedirs("second")
top = os.getcwd()
os.chdir("first")
seen.train(net, 10)
os.chdir(top + "/second")
shutil.rmtree(top + "/first")
os.umask(0o777)
seen.train(net, 100)
os.chdir(top)
shutil.rmtree(top + "/second")
print(sorted(os.listdir(top)), seen.digest(net))
