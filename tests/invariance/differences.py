"""Differences: what a program showed alone beside what it showed under watch."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable

from running import Seen, is_rule_alone

# Beyond these a watcher harms: shares, and what a start and an end may cost.
TIME_SHARE, TIME_S = 1.1, 1.5
_BUSY = 2.0  # so many times as long may a program take on a busy machine, when the processor's time is within the bounds
MEMORY_SHARE, MEMORY_MIB = 1.05, 48.0
_SHOWN = 160  # characters of a difference


def differences(alone: Seen, watched: Seen) -> list[str]:
    """What differs of what a program says and leaves behind; time and memory are in costs()."""
    if watched.hung:
        return [] if alone.hung else ["hangs"]
    found = []
    if watched.code != alone.code and not is_rule_alone(alone, watched):
        found.append(f"exit code {alone.code} -> {watched.code}")
    if watched.out != alone.out:
        found.append("output: " + first_difference(alone.out, watched.out))
    if watched.err != alone.err:
        found.append("errors: " + first_difference(alone.err, watched.err))
    if watched.files != alone.files:
        more, less = sorted({*watched.files} - {*alone.files}), sorted({*alone.files} - {*watched.files})
        found.append(f"files: {' '.join('-' + each for each in less)} {' '.join('+' + each for each in more)}"[:_SHOWN])
    return found


def costs(alone: Seen, watched: Seen) -> list[str]:
    """What is beyond the bounds of time and memory. Of noisy measures: to be believed when it stays."""
    found = []
    limit_s, cpu_limit_s = (TIME_SHARE * each + TIME_S for each in (alone.seconds, alone.cpu_seconds))
    if watched.seconds > limit_s and (watched.cpu_seconds > cpu_limit_s or watched.seconds > _BUSY * limit_s):
        found.append(f"time: {alone.seconds:.1f} -> {watched.seconds:.1f} s")
    if watched.peak_mib > MEMORY_SHARE * alone.peak_mib + MEMORY_MIB:
        found.append(f"memory: {alone.peak_mib:.0f} -> {watched.peak_mib:.0f} MiB")
    return found


def first_difference(before: bytes, after: bytes) -> str:
    """The first lines that differ, cut short around where they do."""
    old, new = (each.decode(errors="replace").splitlines() for each in (before, after))
    for tag, begin, end, other_begin, other_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            left, right = " ".join(old[begin:end][:3]), " ".join(new[other_begin:other_end][:3])
            start = next((index for index, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), 0)
            start = max(0, start - 30)
            return f"{left[start : start + _SHOWN // 2]!r} -> {right[start : start + _SHOWN // 2]!r}"
    return "line ends"


def without_noise(alone: Seen, again: Seen) -> Callable[[Seen], Seen]:
    """A function that leaves out of an execution those lines in which two executions alone differ."""
    outs, errs = _unstable(alone.out, again.out), _unstable(alone.err, again.err)
    files = {*alone.files} ^ {*again.files}

    def clean(seen: Seen) -> Seen:
        kept = [each for each in seen.files if each not in files]
        return dataclasses.replace(seen, out=outs(seen.out), err=errs(seen.err), files=kept)

    return clean


def _unstable(one: bytes, other: bytes) -> Callable[[bytes], bytes]:
    lines, others = one.splitlines(keepends=True), other.splitlines(keepends=True)
    if len(lines) != len(others):
        return lambda text: text if one == other else b""
    numbers = {number for number, (left, right) in enumerate(zip(lines, others)) if left != right}
    return lambda text: b"".join(
        line for number, line in enumerate(text.splitlines(keepends=True)) if number not in numbers
    )
