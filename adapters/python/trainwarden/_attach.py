"""Attaches Trainwarden to a Python program that knows nothing of it.

trainwarden_attach.pth imports this module at the start of the interpreter when TRAINWARDEN_ATTACH=1. All that happens
then is that the import of torch is waited for: a program that does not use torch is left alone.
"""

from __future__ import annotations

from ._imports import when_imported


def _attach_to_torch() -> None:
    """Nothing that goes wrong here may reach the program, which has just imported torch and wants to train."""
    try:
        from .torch.attach import attach

        attach()
    except Exception as error:
        import sys

        print(f"trainwarden: error: could not attach to torch, nothing is captured: {error}", file=sys.stderr)


when_imported("torch", _attach_to_torch)
