#!/usr/bin/env python3
"""What people try on the addresses of jobs, experiments, lineage and studies, each with the refusal that it is to meet.

The same for the addresses of runs: src/ui/server/attack_test.cc.

usage: attack_work_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from page_server import Server, make_work

BUILD = pathlib.Path(sys.argv.pop(1))
SECRET = "THE-SECRET"
JSON = {"Content-Type": "application/json", "X-Trainwarden": "1"}
MAX_SECONDS = 5  # for an answer, on a busy machine
FILLED = {"{job}": "sweep-0", "{log}": "output", "{experiment}": "digits", "{study}": "search"}
NEEDED = {"/jobs/{job}/file": "name=checkpoints/last.pt", "/lineage": "of=prepare-1"}
SQL = ("' OR 1=1 --", "\"; DROP TABLE jobs; --", "sweep-0' UNION SELECT * FROM sqlite_master --", "%", "_", "*",
       "sha256:' OR ''='", "component:' OR 1=1 --", "artifact:%", "trial:\"", "sha256:%", "sha256:")
WAYS_OUT = ("..", "../secret", "../../secret", "../../../secret", "/etc/passwd", "./../secret", "..\\secret",
            "checkpoints/../../secret", "checkpoints/../../../secret", "checkpoints//../secret", "~root", "$(id)",
            "`id`", "secret\0.pt", "\r\nX-Evil: 1", "\x7f", "\xed\xa0\x80", ".", "-", "checkpoints/link",
            "checkpoints/folder/secret", "checkpoints/pipe", "a" * 5000, "order.json", "state", "../.subscriptions")


def work_routes():
    routes = json.loads(subprocess.check_output([BUILD / "tests/page/print_routes"], text=True))
    return [r for r in routes if r["path"].startswith(("/jobs", "/experiments", "/lineage", "/studies"))]


def address_of(path):
    for name, word in FILLED.items():
        path = path.replace(name, word)
    return "/api/v1" + path


class AttackWorkTest(unittest.TestCase):
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="trainwarden-attack-")
        cls.place = pathlib.Path(cls.folder.name)
        (cls.place / "runs").mkdir()
        (cls.place / "secret").write_text(SECRET)
        work = cls.place / "work"
        make_work(BUILD, work, cls.place / "runs")
        (work / "secret").write_text(SECRET)
        (work / "jobs/secret").write_text(SECRET)
        kept = work / "jobs/sweep-0/kept"
        (kept / "link").symlink_to(cls.place / "secret")
        (kept / "folder").symlink_to(cls.place)
        os.mkfifo(kept / "pipe")
        cls.jobs = work / "jobs"
        cls.server = Server(BUILD, cls.place / "runs", work, *cls.flags)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.folder.cleanup()

    def expect(self, statuses, method, target, headers=None, body=None):
        """The answer has one of these statuses, comes soon and is harmless; the server lives on."""
        started = time.monotonic()
        status, answered, text = self.server.ask(
            method, target, {**self.server.authorization(), **(headers or {})}, body)
        shown = f"{method} {target[:120]} {headers or ''}: {status} {text[:300]!r}"
        self.assertIn(status, statuses, shown)
        self.assertLess(time.monotonic() - started, MAX_SECONDS, shown)
        self.assertNotIn(SECRET.encode(), text, shown)
        self.assertNotIn(b"root:", text, shown)
        self.assertIsNone(answered["X-Evil"], shown)
        self.assertIsNone(answered["Access-Control-Allow-Origin"], shown)
        self.assertEqual(answered["X-Content-Type-Options"], "nosniff", shown)
        if status >= 400:
            self.assertTrue(json.loads(text)["error"]["message"], shown)
        self.assertEqual(self.server.get("/about")[0], 200, f"after {shown}")
        return text

    def post(self, statuses, target, body, headers=None):
        return self.expect(statuses, "POST", target, {**JSON, **(headers or {})}, body)

    def test_no_address_answers_who_may_not_ask(self):
        routes = work_routes()
        self.assertGreaterEqual(len(routes), 10)
        for route in routes:
            method, address = route["method"].upper(), address_of(route["path"])
            body, head = (None, {}) if method == "GET" else ("{}", JSON)
            with self.subTest(route=route["path"]):
                self.expect({401}, method, address, {**head, "Authorization": "Bearer " + "a" * 64}, body)
                self.expect({401}, method, address, {**head, "Authorization": ""}, body)
                for foreign in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                                {"Sec-Fetch-Site": "cross-site"}):
                    self.expect({403}, method, address, {**head, **foreign}, body)
                if method == "GET":
                    needed = NEEDED.get(route["path"])
                    asked = address + (f"?{needed}&" if needed else "?")
                    self.expect({200}, "GET", asked[:-1])
                    self.expect({400}, "GET", asked + "__proto__=1")
                    self.expect({400}, "GET", asked + "limit=1&limit=2")
                    self.expect({405}, "POST", address, JSON, "{}")
                else:
                    self.expect({405}, "GET", address)
                    self.expect({415}, "POST", address, {**JSON, "Content-Type": "text/plain"}, "{}")
                    self.expect({403}, "POST", address, {"Content-Type": "application/json"}, "{}")

    def test_no_name_leads_out_of_its_folder(self):
        for word in WAYS_OUT:
            for coded in {urllib.parse.quote(word, safe=""), urllib.parse.quote(word, safe="/")}:
                with self.subTest(word=word[:60]):
                    for target in (f"jobs/{coded}", f"jobs/{coded}/files", f"jobs/{coded}/logs/output",
                                   f"jobs/sweep-0/logs/{coded}", f"experiments/{coded}"):
                        if target.replace("jobs/.", "jobs") not in ("jobs", "jobs/sweep-0/logs/."):
                            self.expect({400, 404}, "GET", "/api/v1/" + target)
                    self.expect({400, 404}, "GET", f"/api/v1/jobs/sweep-0/file?name={coded}")
        listed = self.expect({200}, "GET", "/api/v1/jobs/sweep-0/files")
        for name in (b"link", b"folder", b"pipe"):
            self.assertNotIn(b'"checkpoints/' + name, listed)

    def test_no_name_is_part_of_a_query_of_the_database(self):
        for text in SQL:
            coded = urllib.parse.quote(text, safe="")
            with self.subTest(text=text):
                self.expect({400, 404}, "GET", f"/api/v1/jobs/{coded}")
                self.expect({400, 404}, "GET", f"/api/v1/experiments/{coded}")
                nodes = self.expect({200, 400, 404}, "GET", f"/api/v1/lineage?of={coded}")
                self.assertNotIn(b"prepare-1", nodes, "something else was found under this name")
        self.assertEqual(len(self.server.json("/jobs")["jobs"]), 5)
        self.assertEqual(len(self.server.json("/experiments")["experiments"]), 1)

    def test_no_number_is_taken_that_is_none(self):
        for number in ("-1", "NaN", "1e3", "0x1", "9223372036854775808", "1.5", "", "%201", "1;2", "one"):
            for target in (f"jobs/sweep-0/logs/output?from={number}", f"jobs/sweep-0/logs/output?before={number}",
                           f"jobs/sweep-0/logs/output?limit={number}", f"lineage?of=prepare-1&depth={number}"):
                self.expect({400}, "GET", "/api/v1/" + target)
        for target in ("jobs/sweep-0/logs/output?limit=99999999", "lineage?of=prepare-1&depth=100000",
                       "lineage?of=prepare-1&direction=up"):
            self.expect({400}, "GET", "/api/v1/" + target)
        far = json.loads(self.expect({200}, "GET", f"/api/v1/jobs/sweep-0/logs/output?from={(1 << 53) - 1}"))
        self.assertEqual(far["text"], "")

    def test_texts_of_a_job_are_text(self):
        status, headers, _ = self.server.ask("GET", "/api/v1/jobs/sweep-0/file?name=checkpoints/last.pt",
                                             self.server.authorization())
        self.assertEqual(status, 200)
        self.assertIn("attachment", headers["Content-Disposition"])
        for target in ("jobs/sweep-0", "jobs/sweep-0/logs/output", "jobs"):
            _, kind, body = self.server.get("/" + target)
            self.assertEqual(kind, "application/json")
            self.assertNotIn(b"\x1b", body)

    def test_nobody_acts_where_only_looking_is_allowed(self):
        before = self.standing()
        for job in ("sweep-0", "sweep-1", "sweep-3", "none", "..%2fsecret"):
            for act in ("stop", "resume"):
                self.post({403, 404, 400}, f"/api/v1/jobs/{job}/{act}", '{"reason":"x"}')
        self.assertEqual(self.standing(), before)

    def standing(self):
        return {job["name"]: job["secondary_status"] for job in self.server.json("/jobs")["jobs"]}


class AttackActionsTest(AttackWorkTest):
    """The same where jobs may be stopped: what is asked for is still looked at."""

    flags = ("--allow-actions",)

    def test_nobody_acts_where_only_looking_is_allowed(self):
        before = self.standing()
        for body in ("null", "[]", "{", '{"reason":1}', '{"reason":"x","job":"sweep-1"}', "[" * 100_000,
                     '{"reason":"' + "x" * 1_100_000 + '"}'):
            for act in ("stop", "resume"):
                self.post({400, 413}, f"/api/v1/jobs/sweep-1/{act}", body)
        for job in ("none", "..", "..%2fsecret", "%00", "sweep-1%2f.."):
            self.post({400, 404}, f"/api/v1/jobs/{job}/stop", "{}")
        self.assertEqual(self.standing(), before)
        self.assertFalse((self.jobs / "evil").exists())


if __name__ == "__main__":
    unittest.main()
