"""vars() of a function with several models, taken between the trainings of both."""
import torch
import seen


def main():
    torch.manual_seed(0)
    net_g, net_d = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1)
    opt_g, opt_d = torch.optim.Adam(net_g.parameters(), 1e-2), torch.optim.Adam(net_d.parameters(), 1e-2)
    loss = torch.nn.BCEWithLogitsLoss()
    kept = None
    for step in range(30):
        fake = net_g(torch.randn(8, 2))
        opt_d.zero_grad()
        loss_d = loss(net_d(torch.randn(8, 4)), torch.ones(8, 1)) + loss(net_d(fake.detach()), torch.zeros(8, 1))
        loss_d.backward()
        opt_d.step()
        kept = kept or vars()
        opt_g.zero_grad()
        loss_g = loss(net_d(fake), torch.ones(8, 1))
        loss_g.backward()
        opt_g.step()
    print(sorted(kept), kept["step"] if "step" in kept else None, seen.digest(net_g, net_d))


main()
