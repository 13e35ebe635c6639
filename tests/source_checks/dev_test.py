"""The script dev: its help, what it says to a wrong command, and how it counts."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command):
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def run_test_functions(script):
    """Runs `script` in a bash that has the functions of dev, in $scratch, a folder that is gone with it."""
    scratch = "scratch=$(mktemp -d); trap 'rm -rf \"$scratch\"' EXIT"
    sources = "for part in progress counting build python test; do source scripts/$part.sh; done"
    return run("bash", "-c", f"set -euo pipefail; say() {{ echo \"$*\" >&2; }}; {sources}; {scratch}; {script}")


def run_runner(folder, report, status):
    """Runs a test runner that says something, leaves `report` and ends with `status`, and counts what it did."""
    pathlib.Path(folder, "content").write_text(report, encoding="utf-8")
    runner = f"echo what it said; cp {folder}/content {folder}/report.xml; exit {status}"
    return run_test_functions(f"run_tests it {folder}/report.xml {folder}/log bash -c '{runner}'; summarise")


class DevTest(unittest.TestCase):
    def test_help_lists_every_command(self):
        result = run("./dev", "help")
        self.assertEqual(result.returncode, 0, result.stderr)
        for command in ("demo", "build", "preload", "test", "check", "bench", "fuzz", "format", "lint", "clean", "help"):
            self.assertRegex(result.stdout, rf"(?m)^  {command}\b")

    def test_a_command_answers_to_help_too(self):
        self.assertEqual(run("./dev", "test", "--help").stdout, run("./dev", "help").stdout)

    def test_an_unknown_command_is_wrong_usage(self):
        result = run("./dev", "tset")
        self.assertEqual(result.returncode, 2)
        self.assertIn('"tset"', result.stderr)

    def test_an_unknown_argument_is_wrong_usage(self):
        result = run("./dev", "test", "--quikc")
        self.assertEqual(result.returncode, 2)
        self.assertIn('"--quikc"', result.stderr)


class BuildTest(unittest.TestCase):
    """What the commands build, with a CMake that only says what it is asked for."""

    def asked(self, function):
        script = f"configure() {{ :; }}; cmake() {{ echo cmake \"$@\"; }}; {function}"
        result = run("bash", "-c", f"set -euo pipefail; source scripts/build.sh; {script}")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_after_the_demo_a_libtorch_program_can_be_watched(self):
        for target in ("trainwarden", "trainwarden_preload", "trainwarden_torch_attach"):
            self.assertRegex(self.asked("build_demo").stdout, rf"--target .*\b{target}\b")

    def test_the_preload_library_alone_is_printed(self):
        result = self.asked("build_preload")
        self.assertEqual(result.stdout, f"{ROOT}/build/release/lib/libtrainwarden_preload.so\n")
        self.assertRegex(result.stderr, r"--target trainwarden_preload trainwarden_torch_attach$")


class CountingTest(unittest.TestCase):
    def test_the_last_line_has_the_counts(self):
        result = run_test_functions("check one true; check two true; summarise")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[-1], "2 passed, 0 failed")

    def test_a_failing_check_shows_its_output_and_the_next_one_runs(self):
        result = run_test_functions("check one bash -c 'echo why; false'; check two true; summarise")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 1 failed")
        self.assertIn("why", result.stderr)
        self.assertIn("FAILED: one", result.stderr)

    def test_the_time_of_each_stage_and_their_sum_are_told_at_the_end(self):
        result = run_test_functions("stage_times=('60 70 first' '3 4 the second'); check one true; summarise")
        lines = [line.split() for line in result.stderr.splitlines()[-3:]]
        self.assertEqual(lines[:2], [["60", "70", "first"], ["3", "4", "the", "second"]])
        self.assertEqual([lines[2][0], lines[2][1], lines[2][-1]], ["63", "74", "together"])
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 0 failed")

    def test_a_stage_counts_its_time(self):
        result = run_test_functions("work() { SECONDS=$((SECONDS + 7)); check one true; }; stage it work; summarise")
        self.assertRegex(result.stderr, r"(?m)^ +[78] +0 +it$")

    def test_a_stage_that_takes_more_of_the_processors_than_its_limit_fails(self):
        clock = "now=0; times() { now=$((now + 500)); printf '0m0s 0m0s\\n%sm0.0s 0m0.0s\\n' $now; }"
        result = run_test_functions(f"{clock}; stage fuzzing true; stage unknown true; summarise")
        self.assertIn("took 30000 CPU seconds, and its limit is", result.stderr)
        self.assertIn("FAILED: fuzzing takes longer than its limit", result.stderr)
        self.assertEqual(result.stdout.splitlines()[-1], "0 passed, 1 failed")

    def test_every_stage_of_the_gate_has_a_limit_and_no_other(self):
        limits = json.loads((ROOT / "scripts/minutes.json").read_text(encoding="utf-8"))["stages"]
        text = (ROOT / "scripts/test.sh").read_text(encoding="utf-8")
        gate = text[text.index("quick_stages() {"):text.index("# What does not fit into the time of the gate.")]
        stages = set(re.findall(r'(?:"\$run"|stage) "([^"$]+)"', gate + text[text.index("gate_stages() {"):text.index("all_stages() {")]))
        outside = json.loads((ROOT / "scripts/outside.json").read_text(encoding="utf-8"))
        self.assertEqual(set(limits), stages | {f"outside: {name}" for name in outside})
        # Two processors, and the time after which continuous integration ends. What waits for others runs if there is time.
        self.assertLessEqual(sum(limits[name] for name in stages), 2 * 90 * 60)

    def test_a_report_is_counted_and_names_what_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run_runner(folder, '<testsuites><testsuite><testcase name="one"/><testcase name="two"><skipped/>'
                                '</testcase><testcase classname="file" name="three"><failure>no</failure></testcase>'
                                '<testcase name="four" status="notrun"/></testsuite></testsuites>', status=1)
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 1 failed")
        self.assertIn("it: 4 tests, 1 failed, 2 skipped", result.stderr)
        self.assertIn("FAILED: it: file: three", result.stderr)
        self.assertIn("what it said", result.stderr)

    def test_a_runner_that_fails_after_a_clean_report_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run_runner(folder, '<testsuites><testcase name="one"/></testsuites>', status=139)
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 1 failed")
        self.assertIn("FAILED: it: the runner ended with status 139", result.stderr)
        self.assertIn("what it said", result.stderr)

    def test_a_program_that_ctest_runs_whole_counts_as_its_cases(self):
        program = '<testsuites><testcase name="program">{}</testcase><testcase name="other"/></testsuites>'
        cases = '<testsuites><testsuite><testcase name="a"/><testcase classname="S" name="b">{}</testcase></testsuite></testsuites>'
        for whole, inner, counted in (("", "", "3 tests, 0 failed"), ("<failure/>", "<failure/>", "3 tests, 1 failed"),
                                      ("<failure/>", "", "4 tests, 1 failed")):  # the last fell after its last case
            with self.subTest(counted), tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "cases").mkdir()
                pathlib.Path(folder, "cases/program.xml").write_text(cases.format(inner), encoding="utf-8")
                result = run_runner(folder, program.format(whole), status=1 if whole else 0)
                self.assertIn(f"it: {counted}", result.stderr)
                if inner:
                    self.assertIn("FAILED: it: S: b", result.stderr)

    def test_the_report_of_an_earlier_run_is_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "report.xml").write_text('<testsuites><testcase name="old"/></testsuites>', encoding="utf-8")
            result = run_test_functions(f"run_tests it {folder}/report.xml {folder}/log true; summarise")
        self.assertEqual(result.stdout.splitlines()[-1], "0 passed, 1 failed")

    def test_a_report_that_is_none_is_a_failure(self):
        for content in ("", "<testsuites/>", "<testsuites><testcase"):
            with tempfile.TemporaryDirectory() as folder:
                result = run_runner(folder, content, status=1)
            self.assertEqual(result.stdout.splitlines()[-1], "0 passed, 1 failed")
            self.assertIn("it: ran no tests", result.stderr)
            self.assertIn("what it said", result.stderr)

    def test_long_work_is_not_silent(self):
        script = "cd $scratch; with_progress log bash -c 'echo step 7 of 9; sleep 11'"
        self.assertRegex(run_test_functions(script).stderr, r"(?m)^  10 s: step 7 of 9$")

    def test_long_work_gives_its_exit_status(self):
        self.assertEqual(run_test_functions("with_progress /dev/null bash -c 'exit 7'").returncode, 7)

    def test_a_slice_that_has_passed_is_not_run_again(self):
        script = ("cd $scratch; tree_id() { echo t1; }; git() { :; }; work() { echo works; check one true; };"
                  "slice it work; slice it work; tree_id() { echo t2; }; slice it work; summarise")
        result = run_test_functions(script)
        self.assertEqual(result.stdout.splitlines().count("works"), 2)
        self.assertEqual(result.stdout.splitlines()[-1], "3 passed, 0 failed")

    def test_a_slice_that_failed_is_run_again(self):
        script = ("cd $scratch; tree_id() { echo t1; }; git() { :; }; work() { echo works; check one false; };"
                  "slice it work; slice it work")
        self.assertEqual(run_test_functions(script).stdout.splitlines().count("works"), 2)

    def test_a_full_disk_is_named_before_anything_is_built(self):
        script = "cd $scratch; df() {{ printf 'head\\n- - - {}\\n'; }}; need_disk 2 && echo builds"
        self.assertEqual(run_test_functions(script.format(3 * 1024 * 1024)).stdout, "builds\n")
        full = run_test_functions(script.format(1024 * 1024))
        self.assertEqual((full.returncode, full.stdout), (1, ""))
        self.assertIn("2 GiB", full.stderr)
        self.assertIn("1024 MiB are free", full.stderr)

    def test_nothing_run_is_not_a_pass(self):
        self.assertEqual(run_test_functions("summarise").returncode, 1)


if __name__ == "__main__":
    unittest.main()
