"""The keys of test programs (scripts/gate): what changes with a byte runs, and nothing else; passes are of one key."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(Small CXX)
enable_testing()
add_library(floor STATIC floor/floor.cc)
add_executable(started floor/started.cc)
foreach(name one two reader starter)
  add_executable(${name} ${name}/${name}_test.cc)
  add_test(NAME ${name}.case COMMAND ${name})
endforeach()
target_link_libraries(one PRIVATE floor)
target_compile_definitions(starter PRIVATE TW_STARTED="$<TARGET_FILE:started>")
add_dependencies(starter started)
add_test(NAME script COMMAND python3 -B ${CMAKE_SOURCE_DIR}/script_test.py)
"""
FILES = {
    "CMakeLists.txt": CMAKE,
    "floor/floor.h": "inline int value() { return 1; }\n",
    "floor/floor.cc": '#include "floor.h"\nint floor_value() { return value(); }\n',
    "floor/started.cc": "int main() { return 0; }\n",
    "one/one_test.cc": "int floor_value();\nint main() { return floor_value() == 0; }\n",
    "two/two_test.cc": "int main() { return 0; }\n",
    "reader/reader_test.cc": 'const char* path = TW_SOURCE_DIR "/testdata/fixture.txt";\n'
                             'const char* beside = TW_SOURCE_DIR "/../absent/data";\nint main() { return path == beside; }\n',
    "starter/starter_test.cc": "int main() { return 0; }\n",
    "testdata/fixture.txt": "1\n",
    "testdata/other.txt": "1\n",
    "script_test.py": "\n",
    "adapters/python/trainwarden/hook.py": "VALUE = 1\n",
    "adapters/python/tests/helper.py": "VALUE = 1\n",
    "adapters/python/tests/test_one.py": "import helper\ndef test_it(): pass\n",
    "adapters/python/tests/test_two.py": "def test_it(): pass\n",
    "docs/page.md": "1\n",
}


class Tree:
    """A small tree with the gate's scripts in it, and a store of its own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder, "tree")
        for name, text in FILES.items():
            self.write(name, text)
        self.write("reader/CMakeLists.txt", "")
        shutil.copytree(ROOT / "scripts" / "gate", self.folder / "scripts" / "gate",
                        ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "scripts" / "test_report.py", self.folder / "scripts")
        self.build = self.folder / "build" / "release"
        (self.build / ".cmake/api/v1/query").mkdir(parents=True)
        (self.build / ".cmake/api/v1/query/codemodel-v2").touch()
        self.environment = {**os.environ, "TRAINWARDEN_PASSED": f"{folder}/passed.sqlite", "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment.pop("TRAINWARDEN_FRESH", None)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *command, **settings):
        return subprocess.run(command, cwd=self.folder, env={**self.environment, **settings}, capture_output=True, text=True,
                              check=True).stdout

    def make(self):
        self.run("cmake", "-S", ".", "-B", self.build, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release",
                 "-D", f"CMAKE_CXX_FLAGS=-DTW_SOURCE_DIR='\"{self.folder}\"'")
        self.run("ninja", "-C", self.build)

    def gate(self, *words, **settings):
        return self.run(sys.executable, "scripts/gate/gate.py", *map(str, words), **settings)

    def names(self, kind, *words, **settings):
        self.gate(kind, "build/plan.json", *words, **settings)
        return {unit["name"] for unit in json.loads((self.folder / "build/plan.json").read_text())["units"]}

    def programs(self, **settings):
        """What of CTest's programs has to run, after a build."""
        self.make()
        return self.names("ctest", self.build, **settings)

    def files(self):
        return {pathlib.Path(name).name for name in self.names("python", sys.executable, "", self.folder / "adapters")}

    def note(self, cases, status=0):
        lines = "".join(f'<testcase name="{name}" classname="{place}">{inner}</testcase>' for place, name, inner in cases)
        self.write("build/report.xml", f"<testsuites>{lines}</testsuites>")
        self.gate("note", "build/plan.json", "build/report.xml", "--status", status)

    def note_programs(self, failed=(), status=0):
        self.note([(name, name, "<failure/>" if name in failed else "")
                   for name in ("one.case", "two.case", "reader.case", "starter.case", "script")], status)

    def note_files(self):
        self.note([(f"adapters.python.tests.{name}", "test_it", "") for name in ("test_one", "test_two")])


class KeyTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = Tree(scratch.name)

    def test_programs_run_when_something_that_they_can_read_has_changed(self):
        tree = self.tree
        everything = {"one", "two", "reader", "starter", "script"}
        self.assertEqual(tree.programs(), everything)
        self.assertEqual(tree.programs(), everything, "planned is not passed")
        tree.note_programs()
        self.assertEqual(tree.programs(), set())
        self.assertEqual(tree.programs(TRAINWARDEN_FRESH="1"), everything)
        changes = [("floor/floor.h", "inline int value() { return 2; }\n", {"one"}),
                   ("testdata/fixture.txt", "2\n", {"reader"}),
                   ("testdata/other.txt", "2\n", set()),
                   ("two/two_test.cc", "int main() { return 0 * 2; }\nint more() { return 3; }\n", {"two"}),
                   ("floor/started.cc", "int main() { return 1; }\n", {"starter"}),
                   ("floor/floor.h", "inline int value() { return 1; }\n", set())]  # as it was
        for name, text, expected in changes:
            with self.subTest(name):
                tree.write(name, text)
                # A script whose reading is not known depends on the whole tree.
                self.assertEqual(tree.programs() - {"script"}, expected)
                if expected:
                    tree.note_programs()
        tree.programs()
        tree.note_programs()
        tree.write("docs/page.md", "2\n")
        self.assertEqual(tree.programs(), {"script"})

    def test_files_of_pytest_run_when_something_that_they_can_read_has_changed(self):
        tree = self.tree
        both = {"test_one.py", "test_two.py"}
        self.assertEqual(tree.files(), both)
        tree.note_files()
        self.assertEqual(tree.files(), set())
        for name, expected in (("adapters/python/trainwarden/hook.py", both), ("adapters/python/tests/test_two.py", {"test_two.py"}),
                               ("docs/page.md", set())):
            with self.subTest(name):
                tree.write(name, FILES[name] + "# more\n")
                self.assertEqual(tree.files(), expected)
                tree.note_files()

    def test_only_a_pass_of_the_very_key_counts(self):
        tree = self.tree
        tree.programs()
        tree.note_programs(failed={"two.case"}, status=8)
        self.assertEqual(tree.programs(), {"two"})
        tree.note_programs(status=139)  # the runner has died: nothing is known
        self.assertEqual(tree.programs(), {"two"})

    def test_a_key_that_has_passed_and_failed_is_flaky_and_does_not_count(self):
        tree = self.tree
        tree.programs()
        tree.note_programs(failed={"two.case"}, status=8)
        tree.programs()
        self.assertEqual(tree.gate("flaky", "--since", 0), "")
        tree.note_programs()
        self.assertRegex(tree.gate("flaky", "--since", 0), r"^two \(key [0-9a-f]{12}\)\n$")
        self.assertEqual(tree.programs(), {"two"})

    def test_a_program_whose_cases_were_all_skipped_has_not_passed(self):
        tree = self.tree
        tree.programs()
        tree.note([("one.case", "one.case", "<skipped/>")])
        self.assertIn("one", tree.programs())


    def test_a_store_that_cannot_be_read_has_nothing(self):
        tree = self.tree
        tree.programs()
        tree.note_programs()
        pathlib.Path(tree.environment["TRAINWARDEN_PASSED"]).write_text("no database", encoding="utf-8")
        self.assertEqual(tree.programs(), {"one", "two", "reader", "starter", "script"})


class OutsideTest(unittest.TestCase):
    """Stages that run when what they try has changed."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = Tree(scratch.name)
        stages = {name: {"says": f"what {name} says", "minutes": minutes, "tries": [folder]}
                  for name, minutes, folder in (("long", 9, "floor"), ("short", 2, "floor"), ("other", 1, "docs"))}
        self.tree.write("scripts/outside.json", json.dumps(stages))
        self.tree.write(".gitignore", "/build/\n")
        self.tree.run("git", "init", "-q")
        self.commit("2026-01-01T00:00:00")

    def commit(self, date):
        self.tree.run("git", "add", "-A")
        self.tree.run("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "it", GIT_COMMITTER_DATE=date,
                      GIT_AUTHOR_DATE=date)

    def outside(self, *words):
        return self.tree.run(sys.executable, "scripts/gate/outside.py", *words).splitlines()

    def test_without_a_pass_what_the_last_days_commits_touch_has_changed(self):
        self.tree.write("floor/floor.h", "int value();\n")
        self.commit("2026-03-01T00:00:00")
        self.assertEqual(self.outside("changed"), ["short 2", "long 9"])
        self.tree.write("docs/page.md", "2\n")  # not committed
        self.assertEqual(self.outside("changed"), ["other 1", "short 2", "long 9"])
        self.commit("2026-05-01T00:00:00")
        self.assertEqual(self.outside("changed"), ["other 1"])

    def test_with_a_pass_what_is_not_as_it_was_then_has_changed(self):
        for name in ("long", "short", "other"):
            self.outside("passed", name)
        self.assertEqual(self.outside("changed"), [])
        self.tree.write("floor/floor.h", "int value();\n")
        self.commit("2026-03-01T00:00:00")
        self.assertEqual(self.outside("changed"), ["short 2", "long 9"])
        self.outside("passed", "short")
        self.commit_other_days_later()
        self.assertEqual(self.outside("changed"), ["long 9"])

    def commit_other_days_later(self):
        self.tree.write("script_test.py", "# more\n")
        self.commit("2026-06-01T00:00:00")

    def test_what_has_waited_longest_comes_first(self):
        self.outside("passed", "other")
        self.outside("passed", "long")
        self.assertEqual(self.outside("longest", "2"), ["short 2", "other 1"])
        self.assertEqual(self.outside("longest", "2", "--but", "short"), ["other 1", "long 9"])
        self.assertEqual(self.outside("waiting", "--since", "2026-01-01"), ["short (what short says): has never passed here"])
        self.assertEqual(len(self.outside("waiting")), 3)


class StoreTest(unittest.TestCase):
    def test_it_is_bounded(self):
        sys.path.insert(0, str(ROOT / "scripts" / "gate"))
        import store
        with tempfile.TemporaryDirectory() as folder:
            ticks = iter(range(1000))
            kept = store.Store(f"{folder}/passed.sqlite", clock=lambda: next(ticks))
            store.MAX_KEYS, before = 10, store.MAX_KEYS
            self.addCleanup(setattr, store, "MAX_KEYS", before)
            for number in range(12):
                kept.add(f"key {number}", "it", 1, True)
            self.assertEqual([kept.tests_passed(f"key {number}") is None for number in range(12)], [True] * 2 + [False] * 10)


if __name__ == "__main__":
    unittest.main()
