"""A program with an error of syntax in what it executes."""
import torch
import seen

seen.train(seen.small_net(), 5)
exec("for x in")
