"""What the documents tell a reader to type is taken by the program, and what they name exists.

    documents_test.py PARSE_COMMANDS TRAINWARDEN

Read from README.md, docs and examples: command lines of `trainwarden`, which its own parser parses and nothing runs;
names of rules; action files, which `trainwarden actions --check` checks; JSON; Python, which is compiled and whose
imports and attributes of the package are looked up in its sources.
"""
import ast
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = {"trainwarden": ROOT / "adapters/python/trainwarden", "smdebug": ROOT / "adapters/smdebug/smdebug",
            "sagemaker": ROOT / "adapters/sagemaker/sagemaker", "smexperiments": ROOT / "adapters/sagemaker/smexperiments",
            "e2eAIOK": ROOT / "adapters/sda/e2eAIOK", "sigopt": ROOT / "adapters/sda/sigopt"}
PARSE_COMMANDS = TRAINWARDEN = ""

# A part of a line, and why nothing is asked of it.
EXCEPTIONS = {
    "trainwarden completion bash > ~/.local": "what is behind > is the shell's",
}
# Not rules, though they stand where one would: keys of an event.
KEYS = {"RuleConfigurationName", "RuleEvaluationStatus"}
# What an action file of the documents takes from the environment.
MAIL = {"TRAINWARDEN_SMTP_HOST": "localhost", "TRAINWARDEN_SMTP_FROM": "warden@example.com"}
PLACEHOLDER = re.compile(r"\[[A-Z-]|\.\.\.|\||<")


class Line:
    def __init__(self, file, number, text):
        self.place, self.text = f"{file.relative_to(ROOT)}:{number}", text


def documents(*suffixes):
    files = [ROOT / "README.md"]
    for folder in ("docs", "examples"):
        files += sorted((ROOT / folder).rglob("*"))
    return [file for file in files if file.suffix in suffixes and "docs/adr" not in str(file)]


def code_blocks(file):
    """Yields (language, number of the first line, lines) of fenced and of indented code."""
    block, language, start, in_fence = [], "", 0, False
    for number, line in enumerate(file.read_text().splitlines() + [""], 1):
        fence = re.match(r" *```(\w*)", line)
        if fence and in_fence:
            yield language, start, block
            block, in_fence = [], False
        elif fence:
            block, language, start, in_fence = [], fence[1], number + 1, True
        elif in_fence:
            block.append(line)
        elif line.startswith("    "):
            if not block:
                language, start = "", number
            block.append(line[4:])
        elif block:
            yield language, start, block
            block = []


def joined(start, lines, file):
    """Lines with those put together that end with a backslash."""
    text, number = "", start
    for offset, line in enumerate(lines):
        if not text:
            number = start + offset
        text += (line.strip() if text else line).rstrip("\\")
        if not line.endswith("\\"):
            yield Line(file, number, text.strip())
            text = ""


def command_words(text):
    """Yields the words behind each `trainwarden` of a line that stands where the shell looks for a command."""
    typed = re.split(r" {4,}", text.removeprefix("$ "))[0]  # what follows is what it does
    lexer = shlex.shlex(typed, posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words = list(lexer)
    for place, word in enumerate(words):
        is_program = word == "trainwarden" or word.endswith("bin/trainwarden")
        if not is_program or (place > 0 and words[place - 1] in ("-m", "install")):
            continue
        command = []
        for argument in words[place + 1 :]:
            if re.fullmatch(r"[|;&<>]+", argument):
                break
            command.append(argument)
        yield command


def typed_lines():
    """The lines of the documents that a reader may type."""
    for file in documents(".md"):
        for language, start, lines in code_blocks(file):
            if language in ("", "sh", "bash", "console"):
                yield from joined(start, lines, file)
    for file in documents(".py", ".toml", ".cc", ".c"):
        for number, text in enumerate(file.read_text().splitlines(), 1):
            found = re.match(r"(?:#|//)? {4}((?:\$ )?trainwarden .*)", text)
            if found:
                yield Line(file, number, found[1])


def quoted_lines():
    for file in documents(".md"):
        for number, text in enumerate(file.read_text().splitlines(), 1):
            for command in re.findall(r"`(trainwarden [a-z][^`]*)`", text):
                yield Line(file, number, command)


def synopsis(words):
    """A line with placeholders: its sub-command and the options it has. Those of a program behind -- are not ours."""
    words = words[: words.index("--")] if "--" in words else words
    command = [words[0]]
    if words[0] in ("catalogue", "events", "experiment", "job", "metrics", "study") and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]):
        command.append(words[1])
    return {"command": command, "options": sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(words))))}


def questions(lines):
    """(line, what parse_commands is asked) of each command in the lines."""
    for line in lines:
        if "trainwarden" not in line.text or any(part in line.text for part in EXCEPTIONS):
            continue
        try:
            commands = list(command_words(line.text))
        except ValueError:  # a quote of prose
            continue
        for words in commands:
            if not words or not re.match(r"[a-z-]", words[0]) or words[0] == "COMMAND":
                continue
            is_synopsis = any(PLACEHOLDER.search(word) or re.fullmatch(r"[A-Z]{2,}[A-Z.]*", word) for word in words)
            yield line, synopsis(words) if is_synopsis or len(words) == 1 else words


def wrong_answers(asked):
    with tempfile.TemporaryDirectory() as folder:
        for _, question in asked:  # files that must be there for the parser
            for word in question if isinstance(question, list) else []:
                if re.fullmatch(r"[\w-]+\.(json|toml)", word):
                    pathlib.Path(folder, word).touch()
        answer = subprocess.run([PARSE_COMMANDS], input="\n".join(json.dumps(question) for _, question in asked),
                                capture_output=True, text=True, check=True, cwd=folder, env={**os.environ, **MAIL})
    wrongs = [json.loads(line) for line in answer.stdout.splitlines()]
    assert len(wrongs) == len(asked)
    return [f"{line.place}: {line.text}\n    {wrong}" for (line, _), wrong in zip(asked, wrongs) if wrong]


class CommandsTest(unittest.TestCase):
    maxDiff = None

    def test_every_command_that_a_reader_may_type_is_parsed(self):
        asked = list(questions(typed_lines()))
        self.assertGreater(len(asked), 100, "the documents have commands")
        self.assertEqual(wrong_answers(asked), [])

    def test_every_command_in_a_sentence_exists_with_its_options(self):
        asked = [(line, synopsis(words) if isinstance(words, list) else words)
                 for line, words in questions(quoted_lines())]
        self.assertGreater(len(asked), 20)
        self.assertEqual(wrong_answers(asked), [])

    def test_a_wrong_command_is_found(self):
        wrong = ["trainwarden shwo first", "trainwarden show first --jsn", "trainwarden check first --rule NaNLoss",
                 "trainwarden run --rule '*' -- ./train", "trainwarden run --on-fire stop:rule=NaNLoss -- ./train",
                 "trainwarden events RUN --folow"]
        lines = [Line(ROOT / "README.md", 1, text) for text in wrong]
        self.assertEqual(len(wrong_answers(list(questions(lines)))), len(wrong))


class RulesTest(unittest.TestCase):
    # Where a rule's name stands, and the names there: `--rule A`, `rule = ["A", "B"]`, `stop:rule=A;B`.
    NAMING = re.compile(r"""(?:--rule|\brules?"?'?\]?|create_rule|RuleConfigurationName"?)[ =:(\["']*"""
                        r"""((?:[A-Z]\w+[;,"' ]*)+)""")
    # What a reader writes for rules of his own: a class, a file before it, the name in a table of rules in C.
    OWN = re.compile(r"""(?:\bclass |\.(?:py|so):|\.name = ")([A-Z]\w+)""")
    NAME = re.compile(r"[A-Z][A-Za-z]*[a-z][A-Z]\w+(?:-\d+)?")

    def test_every_rule_that_is_named_exists(self):
        listed = subprocess.run([TRAINWARDEN, "rules", "--json"], capture_output=True, text=True, check=True)
        known = {rule["name"] for rule in json.loads(listed.stdout)["rules"]} | KEYS
        known |= {name for file in documents(".md", ".py", ".c", ".cc") for name in self.OWN.findall(file.read_text())}
        found, unknown = 0, []
        for file in documents(".md", ".py", ".toml", ".json", ".yaml"):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                for name in (name for names in self.NAMING.findall(line) for name in self.NAME.findall(names)):
                    found += 1
                    if re.sub(r"-\d+$", "", name) not in known:
                        unknown.append(f"{file.relative_to(ROOT)}:{number}: {name}")
        self.assertGreater(found, 30)
        self.assertEqual(unknown, [])


class SnippetsTest(unittest.TestCase):
    def blocks(self, wanted):
        for file in documents(".md"):
            for language, start, lines in code_blocks(file):
                if language == wanted:
                    yield f"{file.relative_to(ROOT)}:{start}", "\n".join(lines)

    def check_actions(self, place, text):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            checked = subprocess.run([TRAINWARDEN, "actions", "--check", file.name], capture_output=True, text=True,
                                     check=False, env={**os.environ, **MAIL})
        self.assertIn(checked.returncode, (0, 1), f"{place}: {checked.stderr}")  # 1: a secret is not here

    def test_every_toml_is_parsed_and_every_action_file_checked(self):
        blocks = list(self.blocks("toml"))
        blocks += [(str(file), file.read_text()) for file in documents(".toml")]
        self.assertGreater(len(blocks), 5)
        for place, text in blocks:
            with self.subTest(place):
                if "on" in tomllib.loads(text):
                    self.check_actions(place, text)

    def test_every_json_is_parsed(self):
        blocks = [(place, text) for place, text in self.blocks("json")]
        self.assertGreater(len(blocks), 5)
        for place, text in blocks:
            with self.subTest(place):
                json.loads(text)

    def test_every_python_snippet_compiles_and_names_what_exists(self):
        blocks = list(self.blocks("python")) + [(str(file), file.read_text()) for file in documents(".py")]
        self.assertGreater(len(blocks), 20)
        for place, text in blocks:
            with self.subTest(place):
                self.assertEqual(missing_names(ast.parse(text)), [])


def module_file(name):
    """The source of a module of our packages; none for one that is compiled or not ours."""
    first, *rest = name.split(".")
    if first not in PACKAGES:
        return None
    path = PACKAGES[first].joinpath(*rest)
    for candidate in (path / "__init__.py", path.with_suffix(".py")):
        if candidate.exists():
            return candidate
    return None


def names_in(file):
    """What a module defines or imports at its top; none when only running it tells."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            names.add(node.name)
            if node.name == "__getattr__":
                return None
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if any(alias.name == "*" for alias in node.names):
                return None
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def has_name(module, name):
    file = module_file(module)
    if file is None:
        return module.split(".")[0] not in PACKAGES or "_core" in module
    names = names_in(file)
    return names is None or name in names or module_file(f"{module}.{name}") is not None


def missing_names(tree):
    missing, aliases = [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            missing += [f"{node.module}.{alias.name}" for alias in node.names if not has_name(node.module, alias.name)]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] not in PACKAGES:
                    continue
                if module_file(alias.name) is None:
                    missing.append(alias.name)
                bound = alias.asname or alias.name.split(".")[0]
                aliases[bound] = alias.name if alias.asname else bound
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            module = aliases[node.value.id]
            if not has_name(module, node.attr):
                missing.append(f"{module}.{node.attr}")
    return missing


if __name__ == "__main__":
    PARSE_COMMANDS, TRAINWARDEN = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
