"""Which programs of the rules' table the gate runs: those whose rule has changed, and some of the others by turns.

The program `trainwarden` changes with each change of C++, and with it the key of all rows. What decides a row is mostly its
rule: the sources of its topic, of the engine, and the program that has the fault. A row whose own sources have not changed
since it passed waits for its turn, the one that passed longest ago first.
"""
import os
import pathlib

from digests import ROOT, key_of

RULES = ROOT / "src" / "judge" / "rules"
BUILTIN = RULES / "builtin"


class Rows:
    """The rows of one run. `shared` are paths that all of them depend on: the program, the package."""

    def __init__(self, store, shared):
        self._store = store
        self._shared = set(map(pathlib.Path, shared))
        self._keys = {}  # by the run's name: of its own sources, of everything

    def choose(self, programs, others):
        """The programs to run: changed ones and `others` more; all of them with TRAINWARDEN_FRESH=1."""
        for program in programs:
            own = _own_paths(program)
            self._keys[program.run_name] = (key_of(f"rules, own: {program.run_name}", own, program.rule),
                                            key_of(f"rules: {program.run_name}", own | self._shared, program.rule))
        if os.environ.get("TRAINWARDEN_FRESH") == "1":
            return programs
        changed = [each for each in programs if self._store.tests_passed(self._keys[each.run_name][0]) is None]
        waiting = [each for each in programs
                   if each not in changed and self._store.tests_passed(self._keys[each.run_name][1]) is None]
        waiting.sort(key=lambda each: self._store.passed_at(self._keys[each.run_name][0]))
        return changed + waiting[:others]

    def note(self, program, has_passed):
        for key in self._keys[program.run_name]:
            self._store.add(key, f"rules table: {program.run_name}", 1, has_passed)


def _own_paths(program):
    modules = {file for file in program.file.parent.glob("*.py") if "rule:" not in file.read_text(encoding="utf-8")}
    if not program.rule:
        return {program.file, RULES}  # any of the default rules may raise a false alarm
    sources = [file for file in BUILTIN.rglob("*.cc") if f'"{program.rule_name}"' in file.read_text(encoding="utf-8")
               and not file.name.endswith("_test.cc")]
    topics = {file.parent for file in sources} or {BUILTIN}
    engine = {file for file in RULES.iterdir() if file != BUILTIN}
    return {program.file, *modules, *topics, *engine}
