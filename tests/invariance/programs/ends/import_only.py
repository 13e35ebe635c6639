"""A program that only imports torch and fails."""
import torch

raise SystemExit(int(torch.ones(3).sum().item()) + 4)
