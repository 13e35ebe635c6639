"""When a step ends, with one optimizer or several."""

from __future__ import annotations

from trainwarden.steps import Cycle


class Optimizers:
    """Steps optimizers in the order of a text, where | is a batch, and writes down after which of them a step ends."""

    def __init__(self, *expected: str) -> None:
        self.cycle: Cycle[str] = Cycle()
        for name in expected:
            self.cycle.expect(name)

    def steps(self, order: str) -> str:
        """The steps that end, as words of the optimizers that stepped in each."""
        words, word = [], ""
        for name in order:
            if name == "|":
                if self.cycle.ends_before_batch():
                    words.append(word)
                    word = ""
                    self.cycle.end()
                continue
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


def test_one_that_steps_for_each_fifth_batch() -> None:
    assert Optimizers("D", "G").steps("|D|D|D|D|DG" * 3 + "|D|D|D|D|") == "D D D D DG " * 3 + "D D D D"
    assert Optimizers("D", "G").steps("DDDDDG" * 3) == "D D D D D G D D D D DG D D D D DG"  # batches are not seen


def test_one_that_steps_at_another_interval_than_before() -> None:
    assert Optimizers("D", "G").steps("|D|D|DG" * 2 + "|D|DG" * 2 + "|D|D|D|DG" * 2) == (
        "D D DG D D DG D D G D DG D D D DG D D D DG"
    )


def test_batches_end_steps_while_one_is_waited_for() -> None:
    optimizers = Optimizers("A", "Z")
    assert optimizers.steps("|A" * 20) == " ".join("A" * 20)
    assert not optimizers.cycle.is_in_use("Z")


def test_two_with_a_batch_each() -> None:
    assert Optimizers("A", "B").steps("|A|B" * 3) == "A B A B A B"


def test_one_that_comes_back_is_in_use_again() -> None:
    optimizers = Optimizers("A", "B")
    assert optimizers.steps("AAAAA") == "A A A A A"
    assert optimizers.steps("BABABABAB") == "B A B AB AB AB"  # until it is known that they alternate


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
