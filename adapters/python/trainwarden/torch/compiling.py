"""Compiling: does torch.compile trace this code just now? Of every version of torch."""

try:
    from torch.compiler import is_compiling

    CAN_COMPILE = True
except ImportError:  # torch < 2.3
    try:
        from torch._utils import is_compiling

        CAN_COMPILE = True
    except ImportError:  # torch < 2.1
        CAN_COMPILE = False

        def is_compiling() -> bool:
            return False


__all__ = ["CAN_COMPILE", "is_compiling"]
