"""Attaches Trainwarden to a Python program that knows nothing of it.

trainwarden_attach.pth imports this module at the start of the interpreter when TRAINWARDEN_ATTACH=1. All that happens
then is that the imports of torch and of argparse are waited for: a program that does not use torch is left alone.
"""

from __future__ import annotations

from ._arguments import watch_argparse
from ._imports import when_imported


def _attach_to_torch() -> None:
    """Nothing that goes wrong here may reach the program, which has just imported torch and wants to train."""
    try:
        from .torch.attach import attach

        attach()
    except Exception as error:
        import sys

        print(f"trainwarden: error: could not attach to torch, nothing is captured: {error}", file=sys.stderr)


def _watch_arguments() -> None:
    """As above: a program whose arguments are not known is better than one that does not start."""
    try:
        watch_argparse()
    except Exception as error:
        import sys

        print(f"trainwarden: warning: the program's arguments are not recorded: {error}", file=sys.stderr)


when_imported("argparse", _watch_arguments)
when_imported("torch", _attach_to_torch)
