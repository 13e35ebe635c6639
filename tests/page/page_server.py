"""`trainwarden serve` with sample jobs, experiments and a study, for the tests that ask it over HTTP."""
import http.client
import json
import subprocess


def make_work(build, work, place):
    """Five jobs, an experiment and a study under `work`; the runs of the jobs would lie in `place`."""
    subprocess.run([build / "tests/page/sample_jobs", work / "jobs", "5", place], check=True)
    for words in (["create", "digits"], ["log", "prepare-1", "--experiment", "digits", "--param", "rows=5",
                                         "--metric", "loss=0.5", "--output", "data=s3://bucket/data"]):
        subprocess.run([build / "bin/trainwarden", "experiment", *words, "--experiments", work / "experiments"],
                       stdout=subprocess.DEVNULL, check=True)
    make_study(build, work)


def make_study(build, work):
    """A study "search" of a trial that has ended, one that runs, and one that waits."""
    spec = {"parameters": {"lr": {"min": 0.001, "max": 0.1, "log": True}, "optimizer": {"choices": ["adam", "sgd"]}},
            "metrics": {"loss": {"goal": "minimize", "threshold": 0.1}}, "sampler": "random"}
    (work / "search.json").write_text(json.dumps(spec), encoding="utf-8")
    for words in (["create", work / "search.json"], ["ask", "search"], ["report", "search", "0", "--step", "1", "loss=0.5"],
                  ["tell", "search", "0", "loss=0.4"], ["ask", "search"], ["enqueue", "search", "lr=0.01", "optimizer=sgd"]):
        subprocess.run([build / "bin/trainwarden", "study", *words, "--studies", work / "studies"],
                       stdout=subprocess.DEVNULL, check=True)


class Server:
    def __init__(self, build, place, work, *flags):
        self.process = subprocess.Popen(
            [build / "bin/trainwarden", "serve", place, "--jobs", work / "jobs", "--experiments",
             work / "experiments", "--studies", work / "studies", "--json", "--no-open", "--token-file", place / "token", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        started = json.loads(self.process.stdout.readline())
        self.port, self.token = started["port"], started["url"].partition("#t=")[2]

    def ask(self, method, target, headers=None, body=None):
        """Status, headers and body; `target` is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, target, body, headers or {})
        reply = connection.getresponse()
        answer = reply.status, reply.headers, reply.read()
        connection.close()
        return answer

    def get(self, address):
        status, headers, body = self.ask("GET", "/api/v1" + address, self.authorization())
        return status, headers.get_content_type(), body

    def authorization(self):
        return {"Authorization": "Bearer " + self.token}

    def json(self, address):
        status, _, body = self.get(address)
        return json.loads(body) if status == 200 else {}

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
