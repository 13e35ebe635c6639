"""Modules of Python's library that are there before the program imports anything, but for our own."""
import sys

early = sorted(name for name in sys.modules if not name.startswith(("trainwarden", "_")) and "." not in name)
print(early)
