"""Settings of numpy, decimal, locale, sockets, threads and floating point."""
import decimal
import locale
import socket
import threading
import numpy
import torch
import seen

net = seen.small_net()
seen.train(net, 20)
print(numpy.geterr(), numpy.get_printoptions(), numpy.geterrcall(), decimal.getcontext())
print(locale.setlocale(locale.LC_ALL), socket.getdefaulttimeout(), threading.stack_size())
tiny = torch.tensor([1e-40]) * 1.0
print(tiny.item() > 0, numpy.float32(1e-40) * 1 > 0, 1e-310 * 1.0 > 0, seen.digest(net))
