"""Mixed precision on the CPU: bfloat16 activations, float32 parameters."""

import torch
from torch import nn

from outcome import report, sees


def main():
    torch.manual_seed(10)
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    criterion = nn.MSELoss()
    for step in range(3):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = model(torch.randn(6, 8))
        loss = criterion(output.float(), torch.zeros(6, 4))
        loss.backward()
        optimizer.step()
        sees("MSELoss_output_0", loss)
        sees("2_output_0", output.float())
        print(f"step {step} loss {loss.item():.17g}")
    report(model)


if __name__ == "__main__":
    main()
