"""One owner a step: is_owned() inside owning(), in the thread that entered it alone."""

import threading

import pytest

from trainwarden._owners import is_owned, owning


def test_is_owned_inside_and_not_behind():
    assert not is_owned()
    with owning():
        with owning():
            assert is_owned()
        assert is_owned()
    assert not is_owned()


def test_an_error_ends_it():
    with pytest.raises(KeyError), owning():
        raise KeyError
    assert not is_owned()


def test_other_threads_are_not_owned():
    answers = []
    with owning():
        thread = threading.Thread(target=lambda: answers.append(is_owned()))
        thread.start()
        thread.join()
    assert answers == [False]
