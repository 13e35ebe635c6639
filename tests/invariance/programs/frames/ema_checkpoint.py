"""The arguments of main() by locals() are saved into each checkpoint; a moving average is evaluated (timm)."""
import copy
import torch
import seen


def main(lr=0.05, epochs=3, decay=0.9):
    args = locals()
    model = seen.small_net()
    optimizer = torch.optim.SGD(model.parameters(), lr)
    average = copy.deepcopy(model)
    for epoch in range(epochs):
        for _ in range(10):
            optimizer.zero_grad()
            model(torch.randn(8, 4)).pow(2).mean().backward()
            optimizer.step()
            with torch.no_grad():
                for mean, value in zip(average.parameters(), model.parameters()):
                    mean.mul_(decay).add_(value, alpha=1 - decay)
        average.eval()
        with torch.no_grad():
            print("%.6f" % average(torch.ones(1, 4)).item())
        chosen = {name: args[name] for name in ("lr", "epochs", "decay")}
        torch.save({"args": chosen, "ema": average.state_dict()}, "checkpoint.pt")
    print(torch.load("checkpoint.pt")["args"], seen.digest(model, average))


main()
