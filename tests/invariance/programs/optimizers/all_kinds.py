"""All optimizers of torch, five steps each."""
import torch
import seen

kinds = ["SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "Adagrad", "Adadelta", "ASGD"]
for kind in kinds:
    net = seen.small_net()
    optimizer = getattr(torch.optim, kind)(net.parameters(), lr=0.01)
    seen.train(net, 6, optimizer)
    print(kind, seen.digest(net))
