"""python -m pdb with commands: a breakpoint in a loop, where it stands, its variables."""
import seen

text = "b 9\nc\nw\np steps\np sorted(k for k in locals())[:3]\nc\ncl 1\ny\nc\nq\n"
source = """import seen
import torch


def train(net, steps):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(steps):
        optimizer.zero_grad()
        loss = net(torch.ones(8, 4)).pow(2).mean()
        loss.backward()
        optimizer.step()


net = seen.small_net()
train(net, 8)
print(seen.digest(net))
"""
seen.run_python("-m", "pdb", "train.py", text=text, files={"train.py": source})
