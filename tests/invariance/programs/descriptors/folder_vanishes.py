"""The current folder is removed while the program trains in it."""
import os
import seen

os.makedirs("gone")
os.chdir("gone")
net = seen.small_net()
seen.train(net, 10)
os.rmdir(os.getcwd())
seen.train(net, 100)
try:
    os.getcwd()
except FileNotFoundError:
    print("gone", seen.digest(net))
