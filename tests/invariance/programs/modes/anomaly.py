"""Anomaly detection finds the same operation, and its text names the line of the program's forward pass."""
import re
import sys
import warnings
import torch
import seen

net = seen.small_net()
seen.train(net, 5)
with warnings.catch_warnings(record=True) as caught, torch.autograd.detect_anomaly():
    warnings.simplefilter("always")
    try:
        x = torch.zeros(4, requires_grad=True)
        (torch.sqrt(x * 0) * 0).sum().backward()
    except RuntimeError as error:
        print(error)
    seen.train(net, 8)
texts = [str(each.message) for each in caught if "Traceback" in str(each.message)]
print([re.findall(r'"([^"]*)", line (\d+)', text)[-1][1] for text in texts])
print(torch.is_anomaly_enabled(), seen.digest(net))
