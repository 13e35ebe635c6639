"""Rivals beside the study of diagnoses: other tools on the same programs, scored alike.

    python3 tests/diagnosis/rivals/rivals.py --python build/venv/bin/python3 tuning

Each rival of rivals.json is installed by its package's name into an environment of its own, and judges the programs of a
half: those that read source read only the variant that is run (variant.py), and with its author's names unless --shuffle is
given, as they go by such names; those that watch a run are put into it as their documentation says (watch.py); TrainCheck learns from
the healthy variants of the same program (invariants.py). Answers are kept, as in study.py, whose scoring this is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import study  # noqa: E402
from invariants import TrainCheck  # noqa: E402
from variant import variant  # noqa: E402

Case = dict[str, Any]
Answer = dict[str, Any]
TABLE = json.loads((HERE / "rivals.json").read_text())
ALARMING = {"warning", "warn", "error", "critical", "fatal"}
GRAVEST_FIRST = ("fatal", "critical", "error", "warning", "warn")


def run(command: list[str], work: Path, case: int, seed: int, limit: float = study.LIMIT_SECONDS) -> tuple[int, str]:
    environment = {**os.environ, "CASE": str(case), "SEED": str(seed), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    )
    try:
        output = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # also what it has started itself, which else holds the output open
        output = process.communicate()[0]
        return -1, output
    return process.returncode, output


class Environment:
    """The Python of a rival, which has the PyTorch of the study."""

    def __init__(self, folder: Path, study_python: str, rival: dict[str, Any]) -> None:
        self.folder, self.study_python, self.rival = folder, study_python, rival
        self.bin = folder / "bin"
        self.python = str(self.bin / "python")

    def make(self) -> None:
        wanted = json.dumps([self.rival.get(each) for each in ("package", "needs", "needs_alone")])
        made = self.folder / "packages.json"
        if made.exists() and made.read_text() == wanted:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run([self.study_python, "-m", "venv", "--system-site-packages", str(self.folder)], check=True)
        self._share_torch()
        if "needs" in self.rival:  # its package asks for another PyTorch than that of the study
            self._install("--no-deps", self.rival["package"], *self.rival.get("needs_alone", []))
            self._install(*self.rival["needs"])
        elif self.rival["package"]:
            self._install(self.rival["package"])
        made.write_text(wanted)

    def _share_torch(self) -> None:
        """A PyTorch that lies in another environment is lent by a path, as it is too large to have twice."""
        if subprocess.run([self.python, "-c", "import torch"], capture_output=True).returncode == 0:
            return
        where = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
        lent, own = (subprocess.check_output([python, "-c", where], text=True).strip() for python in (self.study_python, self.python))
        (Path(own) / "study.pth").write_text(lent + "\n")

    def _install(self, *what: str) -> None:
        if what:
            subprocess.run([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what], check=True)


def lint(name: str, environment: Environment, work: Path) -> list[dict[str, Any]]:
    """What a rival that reads source says of train.py."""
    commands = {
        "torchfix": ["torchfix", "--select=ALL", "train.py"],
        "torch-preflight": ["torch-preflight", "check", "-f", "json", "-j", "1", "train.py"],
        "dslinter": ["pylint", "--load-plugins=dslinter", "--disable=all", "--enable=W5507,R5508,W5511,W5512,W5514,W5516,W5517,W5521", "-f", "json", "train.py"],  # fmt: skip
    }
    command = commands[name]
    done = subprocess.run([str(environment.bin / command[0]), *command[1:]], cwd=work, capture_output=True, text=True, timeout=60)
    return READERS[name](done.stdout, done.stderr)


def told(code: str, severity: str, text: str) -> dict[str, Any]:
    """It is known before the first step."""
    return {"code": code, "severity": severity.lower(), "step": 0, "text": text[:400]}


def read_torchfix(output: str, errors: str) -> list[dict[str, Any]]:
    if "Finished checking" not in errors:
        raise RuntimeError(errors[-400:])
    return [told(code, "warning", text) for code, text in re.findall(r"^train\.py:\d+:\d+: (TOR\d+) (.*)$", output, re.M)]


def read_preflight(output: str, _: str) -> list[dict[str, Any]]:
    return [told(each["code"], each["severity"], each["message"]) for each in json.loads(output)["diagnostics"]]


def read_dslinter(output: str, _: str) -> list[dict[str, Any]]:
    return [told(each["message-id"], each["type"], each["message"]) for each in json.loads(output)]


READERS = {"torchfix": read_torchfix, "torch-preflight": read_preflight, "dslinter": read_dslinter}


class RivalStudy(study.Study):
    """The study, with a rival in the place of `trainwarden run` and `trainwarden diagnose`."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.name, self.rival = name, TABLE["rivals"][name]
        self.environment = Environment(Path(options.environments).resolve() / name, options.python, self.rival)
        self.environment.make()
        way = {"source": "variant.py", "run": "watch.py", "trace": "invariants.py"}[self.rival["reads"]]
        version = f"{self.rival['package']} {hashlib.sha256((HERE / way).read_bytes()).hexdigest()[:16]} {options.shuffle}"
        own = {"out": str(Path(options.out) / name), "version": version, "again": False, "keep": False}
        super().__init__(argparse.Namespace(**{**vars(options), **own}))
        self.half = ""

    def answer(self, half: str, case: Case, seed: int) -> Answer:
        self.half = half
        return judged(super().answer(half, case, seed), case, self.rival)

    def _run(self, run_folder: Path, source: str, case: Case, seed: int) -> Answer:
        work = self.folder / "work" / run_folder.name
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        run_folder.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        answer = {"source": self._read, "run": self._watch, "trace": self._trace}[self.rival["reads"]](work, source, case, seed)
        answer["seconds"] = time.monotonic() - began
        (run_folder / "messages.json").write_text(json.dumps(answer.pop("messages")))
        shutil.rmtree(work, ignore_errors=True)
        return answer

    def _read(self, work: Path, source: str, case: Case, seed: int) -> Answer:
        text = variant(source, case["case"])
        (work / "train.py").write_text(study.shuffled(text, seed * 1000 + case["case"]) if self.options.shuffle else text)
        try:
            return {"messages": lint(self.name, self.environment, work), "failure": ""}
        except (RuntimeError, ValueError, OSError) as error:
            return {"messages": [], "failure": str(error)[-400:]}

    def _watch(self, work: Path, source: str, case: Case, seed: int) -> Answer:
        (work / "train.py").write_text(study.shuffled(source, seed * 1000 + case["case"]))
        command = [self.environment.python, str(HERE / "watch.py"), self.name, "messages.json", "train.py"]
        status, output = run(command, work, case["case"], seed)
        messages = work / "messages.json"
        if not messages.exists():
            return {"messages": [], "failure": f"status {status}: {output[-400:]}"}
        return json.loads(messages.read_text())

    def _trace(self, work: Path, source: str, case: Case, seed: int) -> Answer:
        cases = json.loads((Path(self.options.corpus) / self.half / "cases.json").read_text())
        healthy = [each["case"] for each in cases if each["family"] == case["family"] and not each["faulty"]]
        # One set of names for all variants: what is learned of one must be found in another.
        source = study.shuffled(source, seed * 1000)
        program = f"{self.half}-{case['family']}-{seed}-{hashlib.sha256(source.encode()).hexdigest()[:8]}"
        checker = TrainCheck(self.environment.bin, self.folder / "learned" / program, run)
        return checker.check(work, source, case["case"], healthy, seed)

    def _diagnose(self, run_folder: Path) -> dict[str, Any]:
        return {"messages": json.loads((run_folder / "messages.json").read_text())}


def match_of(message: dict[str, Any], rival: dict[str, Any]) -> dict[str, Any]:
    """What rivals.json says of a message; TrainCheck's are sentences, of which it has patterns."""
    table = rival["messages"]
    if message["code"] in table:
        return table[message["code"]]
    if rival["reads"] == "trace":
        for pattern, match in table.items():
            if pattern != "*" and re.search(pattern, message["code"]):
                return match
    return table.get("*", {"causes": []})


def causes_of(message: dict[str, Any], rival: dict[str, Any]) -> tuple[list[str], bool]:
    """The causes that a message counts for, and whether it is an alarm on a healthy program."""
    match = match_of(message, rival)
    causes = [cause for each in match["causes"] for cause in TABLE["classes"].get(each, [each])]
    return causes, match.get("alarm", True) and message["severity"].lower() in ALARMING


def judged(answer: Answer, case: Case, rival: dict[str, Any]) -> Answer:
    """The answer as study.py scores one. A message that counts for several causes is taken for the right one."""

    def gravity(message: dict[str, Any]) -> int:
        severity = message["severity"].lower()
        return GRAVEST_FIRST.index(severity) if severity in GRAVEST_FIRST else len(GRAVEST_FIRST)

    findings, said, first_alarm = [], set(), None
    for message in sorted(answer["diagnosis"]["messages"], key=gravity):
        causes, alarms = causes_of(message, rival)
        kind = str(causes) if rival["reads"] == "trace" else message["code"]  # TrainCheck says one thing in many sentences
        if kind in said or not (causes or alarms):
            continue
        said.add(kind)
        right = next((cause for cause in causes if case["faulty"] and study.is_right(cause, case)), None)
        cause = right or (causes[0] if causes else message["code"])
        names_it = right is not None and right == match_of(message, rival)["causes"][0]
        finding = {"cause": cause, "confidence": 1.0, "step": message["step"] or 0, "code": message["code"], "names_it": names_it}
        findings.append(finding)
        first_alarm = first_alarm or (finding if alarms else None)
    return {**answer, "status": 0, "diagnosis": {"findings": findings, "diagnosis": first_alarm}}


def scored(results: list[tuple[Case, Answer]]) -> dict[str, Any]:
    figures = study.score(results)
    del figures["calibration"]  # rivals do not say how sure they are
    faulty = [answer["diagnosis"]["findings"][:4] for case, answer in results if case["faulty"]]
    named = [any(finding["names_it"] for finding in findings) for findings in faulty]
    figures["named_itself_pct"] = round(100 * sum(named) / len(named), 1) if named else None
    figures["failed"] = sum(1 for _, answer in results if answer.get("failure") and not answer["diagnosis"]["findings"])
    figures["seconds"] = round(sum(answer["seconds"] for _, answer in results) / max(len(results), 1), 2)
    return figures


def table(half: str, figures: dict[str, dict[str, Any]]) -> str:
    columns = ("faulty", "healthy", "found_pct", "first_pct", "named_itself_pct", "false_alarm_pct", "failed", "seconds")
    lines = [f"{half:<22}" + "".join(f"{each:>18}" for each in columns)]
    for name, row in figures.items():
        cells = "".join(f"{'-' if row.get(each) is None else row[each]:>18}" for each in columns)
        lines.append(f"{name:<22}{cells}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("halves", nargs="+", metavar="HALF", help="tuning, reporting")
    parser.add_argument("--python", required=True)
    parser.add_argument("--rival", action="append", choices=list(TABLE["rivals"]), help="this one only; may be given again")
    parser.add_argument("--corpus", default=str(HERE.parent))
    parser.add_argument("--out", default="build/diagnosis-rivals")
    parser.add_argument("--environments", default="build/diagnosis-rivals/environments")
    parser.add_argument("--cli", default="", help="Trainwarden's, to be run on the same programs")
    parser.add_argument("--ours", default="", help="instead of that, what study.py --json printed of them")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--shard", default="", help="K/N: the K-th of N parts")
    parser.add_argument("--only", default="", help="cases in whose name this is; several: a comma between them")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shuffle", action="store_true", help="shuffle the names for those that read source, too")
    parser.add_argument("--cases", action="store_true", help="print what was said of each program")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.python = os.path.abspath(options.python)
    if "reporting" in options.halves and options.corpus == str(HERE.parent):
        study.check_reporting_half()
    document = {half: of_half(half, options) for half in options.halves}
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        for half, figures in document.items():
            print(table(half, figures))
    return 0


def of_half(half: str, options: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(Path(options.ours).read_text()) if options.ours else {}
    figures = {"trainwarden": figures[half]} if half in figures else {}
    if options.cli:
        figures["trainwarden"] = study.score(answered(half, ours(options), "trainwarden", options))
    for own in figures.values():
        own["named_itself_pct"] = own["found_pct"]  # a finding of ours counts for its own cause only
    for name in options.rival or TABLE["rivals"]:
        figures[name] = scored(answered(half, RivalStudy(name, options), name, options))
    return figures


def ours(options: argparse.Namespace) -> study.Study:
    version = hashlib.sha256(Path(options.cli).read_bytes()).hexdigest()[:16]
    own = {"cli": os.path.abspath(options.cli), "out": str(Path(options.out) / "trainwarden"), "version": version, "again": False, "keep": False}
    return study.Study(argparse.Namespace(**{**vars(options), **own}))


def answered(half: str, one: study.Study, name: str, options: argparse.Namespace) -> list[tuple[Case, Answer]]:
    trials = []
    for only in options.only.split(","):  # each by itself, so that a shard has some of each
        one.options.only = only
        trials.extend(one.trials(half))
    with ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(lambda trial: one.answer(half, *trial), trials))
    results = [(case, answer) for (case, _), answer in zip(trials, answers)]
    if options.cases:
        study.print_cases(f"{name} {half}", results, [seed for _, seed in trials])
    return results


if __name__ == "__main__":
    sys.exit(main())
