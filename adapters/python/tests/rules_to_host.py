"""Rules that test_rule_host.py runs in processes of their own."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Optional

from trainwarden import Collection, rules
from trainwarden.rules import Evidence, Severity, StepWindow, Verdict


class Above(rules.Rule):
    def __init__(self, limit: float, inclusive: bool = False, name: Optional[str] = None, after: int = 0):
        self.limit = limit
        self.inclusive = inclusive
        self.after = after

    def needs(self) -> rules.Needs:
        return ["losses", Collection("mine", include=("^g",), save=5, keep="hash")]

    def evaluate(self, window: StepWindow) -> Verdict:
        print("rules may print")
        loss = window.scalar("loss")
        over = loss >= self.limit if self.inclusive else loss > self.limit
        if window.global_step < self.after or not over:
            return Verdict.ok()
        evidence = [Evidence("loss", "value", float("nan"), self.limit, window.global_step)]
        return Verdict.fired(f"the loss is {loss}", advice="stop", evidence=evidence, severity=Severity.ERROR)


@rules.rule(needs=["losses"])
def holds(window: StepWindow, limit: float = 3.0) -> bool:
    return window.scalar("loss") < limit


@rules.rule
def faulty(window: StepWindow, how: str, at: int = 2) -> bool:
    if window.global_step < at:
        return True
    if how == "spin":
        while True:
            pass
    if how == "sleep":
        time.sleep(1000)
    if how == "raise":
        raise ZeroDivisionError("by my own hand")
    if how == "exit":
        print("I leave", file=sys.stderr)
        sys.exit(5)
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "allocate":
        hoard = []
        while True:
            hoard.append(bytearray(8 << 20))
    if how == "garbage":
        os.write(3, b"\xff not an answer\n")
    if how == "half":
        os.write(3, b'{"outcome":')
        os._exit(0)
    if how == "close":
        os.close(3)
    return True


class LikeSmdebug:
    """As classes of the package smdebug are: made with the run in their hands."""

    def __init__(self, base_trial: object, threshold: str = "3"):
        self.threshold = float(threshold)

    @classmethod
    def for_engine(cls, run: str, **arguments: str) -> rules.Rule:
        return holds(limit=cls(run, **arguments).threshold)
