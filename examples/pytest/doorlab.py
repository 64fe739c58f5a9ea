"""A lab for Python tests: `doorlab up --json` with a clock that the test moves. Standard library only.

    with Lab() as lab:
        place = lab.live[0]          # placeId, apiKey, entryPhone
        lab.fault("offline", lab.boards(place)[0]["boardId"])
        lab.advance("36h")

Set DOORLAB to the binary when it isn't in the PATH.
"""
import json, os, subprocess
from urllib.error import HTTPError
from urllib.request import Request, urlopen


class Lab:
    def __init__(self, *flags):
        self.flags = flags or ("--boards", "10", "--clock", "virtual")

    def __enter__(self):
        self.process = subprocess.Popen([os.environ.get("DOORLAB", "doorlab"), "up", "--json", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0",
                                         "--control", "127.0.0.1:0", *self.flags], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"doorlab was not ready: exit code {self.process.wait()}")
        self.ready = json.loads(line)
        self.url = self.ready["http"]
        self.live = [p for p in self.ready["places"] if p["kind"] == "live"]
        self.test = [p for p in self.ready["places"] if p["kind"] == "test"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()

    def control(self, method, path, body=None):
        """Calls the control API (docs/control-api.md) and returns the answer's data."""
        return send(method, self.ready["control"] + "/lab/v1" + path, body, {"Authorization": "Bearer " + self.ready["controlToken"]})[1]["data"]

    def advance(self, by):
        """Moves the clock; when it returns, everything that fell due has happened."""
        return self.control("POST", "/clock/advance", {"by": by})

    def fault(self, name, *boards, **more):
        """Arms a fault (docs/faults.md) and returns what removes it."""
        fault = self.control("POST", "/faults", {"fault": name, "boards": list(boards), **more})["faultId"]
        return lambda: self.control("DELETE", "/faults/" + fault)

    def boards(self, place):
        return self.control("GET", "/boards?placeId=" + place["placeId"])

    def journal(self, board):
        """What a board's relays did: the ground truth."""
        return self.control("GET", f"/boards/{board}/journal")


def send(method, url, body=None, headers=None):
    """One request: status and JSON, failures included."""
    request = Request(url, json.dumps(body).encode() if body is not None else None, {"Content-Type": "application/json", **(headers or {})}, method=method)
    try:
        with urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except HTTPError as failure:
        return failure.code, json.load(failure)
