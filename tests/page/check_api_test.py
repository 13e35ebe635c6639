#!/usr/bin/env python3
"""Compares docs/reference/api with the server: its addresses, their parameters, and what it really answers.

usage: check_api_test.py BUILD_FOLDER ON|OFF      whether the build has the page
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import yaml

from page_server import Server, make_work

BUILD = pathlib.Path(sys.argv.pop(1))
HAS_PAGE = sys.argv.pop(1) == "ON"  # a build without the page answers all but the page itself
ROOT = pathlib.Path(__file__).resolve().parents[2]
API = ROOT / "docs/reference/api"
OF_THE_SERVER = {("get", "/about"), ("get", "/notices")}
KINDS = {"training": [], "apart": [], "attention": [], "long": ["64"]}

loaded: dict[str, object] = {}


def document(name):
    if name not in loaded:
        loaded[name] = yaml.safe_load((API / name).read_text(encoding="utf-8"))
    return loaded[name]


def resolve(node, file):
    """The node that a chain of $refs leads to, and its file."""
    while isinstance(node, dict) and "$ref" in node:
        target, _, pointer = node["$ref"].partition("#")
        file = target or file
        node = document(file)
        for part in pointer.split("/")[1:]:
            node = node[part.replace("~1", "/").replace("~0", "~")]
    return node, file


class Operation:
    """One method of one address, as documented."""

    def __init__(self, path, item, file, method):
        self.path, self.method, self.file = path, method, file
        self.node = item[method]
        shared = item.get("parameters", [])
        self.parameters = [resolve(p, file)[0] for p in shared + self.node.get("parameters", [])]

    def names(self, place):
        return {p["name"] for p in self.parameters if p["in"] == place}

    def reply(self, status, content_type):
        """The documented media type of a reply with its file, or None."""
        reply, file = resolve(self.node["responses"].get(status, {}), self.file)
        content = reply.get("content", {}) if reply else {}
        return (content[content_type], file) if content_type in content else None


def documented():
    operations = {}
    for path, node in document("openapi.yaml")["paths"].items():
        item, file = resolve(node, "openapi.yaml")
        for method in ("get", "post"):
            if method in item:
                operations[method, path] = Operation(path, item, file, method)
    return operations


TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}


def violations(value, schema, file, where="answer"):
    """Yields what is wrong with a value, by the part of JSON Schema that the documents use."""
    schema, file = resolve(schema, file)
    if schema is True or schema is None:
        return
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            found = [list(violations(value, option, file, where)) for option in schema[choice]]
            if all(found):
                yield from found[0]
    for part in schema.get("allOf", []):
        yield from violations(value, part, file, where)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(TYPES[t](value) for t in types):
        yield f"{where} is {json.dumps(value)[:80]}, documented as {' or '.join(types)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {json.dumps(value)[:80]}, documented as one of {schema['enum']}"
    if isinstance(value, dict):
        yield from object_violations(value, schema, file, where)
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value[:50]):
            yield from violations(item, schema["items"], file, f"{where}[{index}]")


def object_violations(value, schema, file, where):
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where} has no {name}"
    more = schema.get("additionalProperties")
    for name, item in value.items():
        if name in properties:
            yield from violations(item, properties[name], file, f"{where}.{name}")
        elif isinstance(more, dict):
            yield from violations(item, more, file, f"{where}.{name}")
        elif properties and more is not True:
            yield f"{where}.{name} is not documented"


def safetensors_arrays(body):
    (length,) = struct.unpack("<Q", body[:8])
    return {name: array for name, array in json.loads(body[8 : 8 + length]).items() if name != "__metadata__"}


class ApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.operations = documented()
        cls.routes = json.loads(subprocess.check_output([BUILD / "tests/page/print_routes"], text=True))
        cls.folder = tempfile.TemporaryDirectory(prefix="trainwarden-api-")
        place = pathlib.Path(cls.folder.name)
        for kind, more in KINDS.items():
            subprocess.run([BUILD / "tests/page/sample_runs", kind, place / kind, *more], check=True)
        work = place / "work"
        make_work(BUILD, work, place)
        cls.server = Server(BUILD, place, work)
        cls.runs = [run["id"] for run in cls.server.json("/runs")["runs"]]

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.folder.cleanup()

    def test_every_address_is_documented_and_every_documented_one_is_there(self):
        there = {(route["method"], route["path"]) for route in self.routes} | OF_THE_SERVER
        self.assertEqual(sorted(there - set(self.operations)), [], "not in docs/reference/api/openapi.yaml")
        self.assertEqual(sorted(set(self.operations) - there), [], "documented, but not answered")

    def test_names_in_addresses_are_documented(self):
        for (_, path), operation in self.operations.items():
            self.assertEqual(operation.names("path"), set(re.findall(r"{(\w+)}", path)), path)

    def test_parameters_are_those_that_the_server_knows(self):
        for (method, path), operation in self.operations.items():
            if method != "get":
                continue
            address = self.fill(path, operation, {"run": self.runs[0]}, ["no_such_parameter=1"])
            status, _, body = self.server.get(address)
            message = json.loads(body)["error"]["message"]
            self.assertEqual(status, 400, f"{path} takes a parameter that nobody knows: {message}")
            known = re.search(r"Known are: (.*)$", message)
            self.assertIsNotNone(known, f"{path} does not look at its parameters first: {message}")
            names = set(known.group(1).split(", ")) - {"none"}
            self.assertEqual(operation.names("query"), names, path)

    def test_answers_are_as_documented(self):
        for (method, path), operation in sorted(self.operations.items()):
            if method == "get" and path != "/notices":
                with self.subTest(path=path):
                    self.check_answer(path, operation)

    def check_answer(self, path, operation):
        last = "no sample run has what it needs"
        for address in self.addresses(path, operation):
            status, content_type, body = self.server.get(address)
            if path == "/runs/{run}/page" and not HAS_PAGE:
                self.assertEqual(status, 409, body[:300])
                return
            if status != 200:
                last = f"{address}: {status} {body[:300]!r}"
                continue
            found = operation.reply("200", content_type)
            self.assertIsNotNone(found, f"{address} answers {content_type}, which is not documented")
            media, file = found
            if content_type == "application/json":
                document = json.loads(body, parse_constant=lambda text: self.fail(f"{address} has {text}, which is not JSON"))
                self.assertEqual(list(violations(document, media["schema"], file))[:5], [], address)
            elif content_type == "application/vnd.safetensors":
                for name, array in safetensors_arrays(body).items():
                    begin, end = array["data_offsets"]
                    self.assertLessEqual(begin, end, f"{address}: {name}")
                    self.assertGreaterEqual(math.prod(array["shape"]), 0)
            return
        self.fail(f"{path} was never answered; {last}")

    def addresses(self, path, operation):
        """Ways to ask for it, of each sample run."""
        for run in self.runs if "{run}" in path else [self.runs[0]]:
            for choice in self.choices(run):
                yield self.fill(path, operation, {"run": run, **choice})

    def choices(self, run):
        ids = self.server.json(f"/runs/{run}/tensors")["ids"][:40]
        pair = {"a": self.runs[0], "b": self.runs[-1]}
        for step in ("4", "5", "9", "0"):
            for tensor in ids:
                yield {"tensor": tensor, "tensors": tensor, "step": step, "steps": step, **pair}

    @staticmethod
    def fill(path, operation, values, query=None):
        guesses = {"layer": "0", "head": "0", "heads": "0", "query": "0", "queries": "0", "item": "0", "from": "0",
                   "level": "0", "row": "0", "column": "0", "format": "csv", "rule": "VanishingGradient", "job": "sweep-0", "log": "output",
                   "name": "checkpoints/last.pt", "experiment": "digits", "of": "prepare-1", "study": "search", **values}
        address, asked = path, list(query or [])
        for parameter in operation.parameters:
            name, schema = parameter["name"], parameter.get("schema", {})
            value = str(guesses.get(name, parameter.get("example", schema.get("example", schema.get("enum", ["0"])[0]))))
            if parameter["in"] == "path":
                address = address.replace("{" + name + "}", value)
            elif query is None and parameter["in"] == "query" and parameter.get("required"):
                asked.append(f"{name}={value}")
        return address + ("?" + "&".join(asked) if asked else "")


if __name__ == "__main__":
    unittest.main()
