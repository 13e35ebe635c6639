"""When a step ends, with one optimizer or several."""

from __future__ import annotations

from trainwarden.torch.steps import Cycle


class Optimizers:
    """Steps optimizers in the order of a text, and writes down after which of them a step ends."""

    def __init__(self, *expected: str) -> None:
        self.cycle: Cycle[str] = Cycle()
        for name in expected:
            self.cycle.expect(name)

    def steps(self, order: str) -> str:
        """The steps that end, as words of the optimizers that stepped in each."""
        words, word = [], ""
        for name in order:
            if self.cycle.ends_before(name):
                words.append(word)
                word = ""
                self.cycle.end()
            word += name
            if self.cycle.ends_after(name):
                words.append(word)
                word = ""
                self.cycle.end()
        return " ".join(words)


def test_one_optimizer() -> None:
    assert Optimizers().steps("AAA") == "A A A"


def test_two_that_alternate() -> None:
    assert Optimizers("D", "G").steps("DGDGDG") == "DG DG DG"


def test_one_that_steps_more_often() -> None:
    assert Optimizers("D", "G").steps("DDDGDDDG") == "D D DG D D DG"


def test_one_that_never_steps_is_waited_for_three_times() -> None:
    optimizers = Optimizers("A", "Z")
    assert optimizers.steps("AAAAA") == "A A A A A"  # the fourth ends by itself, those before only at the next
    assert not optimizers.cycle.is_in_use("Z")


def test_one_that_comes_back_is_in_use_again() -> None:
    optimizers = Optimizers("A", "B")
    assert optimizers.steps("AAAAA") == "A A A A A"
    assert optimizers.steps("BABABA") == "BA BA BA"


def test_one_that_is_gone_is_not_waited_for() -> None:
    optimizers = Optimizers("A", "B")
    assert optimizers.steps("AB") == "AB"
    optimizers.cycle.forget("B")
    assert optimizers.steps("AA") == "A A"


def test_a_step_that_is_abandoned_counts_for_nobody() -> None:
    optimizers = Optimizers("A", "B")
    assert optimizers.steps("A") == ""
    optimizers.cycle.abandon()
    assert optimizers.steps("AB") == "AB"
