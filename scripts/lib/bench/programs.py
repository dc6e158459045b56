"""The programs of a measurement: each on the core that it gets, ended by process id."""
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from child import ROOT, Server, free_port

# One core runs the server, or what is compared with it. The model and the customers share the other one.
SERVER_CORE, CLIENT_CORE = sorted(os.sched_getaffinity(0))[:2]
SERIAL = "ABC123"
WARRANTY = f"warranty of serial {SERIAL}"
WARRANTY_REPLY = "Laptop Dell"
QUESTION = "I would like a laptop for studying, 15 million"

SETTINGS = {
    "DATABASE_URL": "sqlite://database/frontdesk.db",
    "LLM": "offline",
    "EMBED": "off",
    # One customer sends what a whole town sends.
    "RATE_LIMIT_PER_SECOND": "0",
    "TURNS_PER_MINUTE": "0",
    "LLM_MAX_CONCURRENT": "256",
    "LLM_QUEUE_MAX": "1000",
    "LLM_MAX_TOKENS": "100000",
}


@contextmanager
def on_core(core):
    """What is started inside runs on this core."""
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


class Programs:
    """Starts programs in one folder, and ends them all."""

    def __init__(self, folder, target):
        self.folder, self.target = folder, target
        self.children = []

    def close(self):
        for child in self.children:
            child.close()

    def binary(self, name):
        return self.target / "release" / name

    def frontdesk(self, name, model=None, database=None, **settings):
        """A running server with the sample shop; `database`: a folder to begin with."""
        folder = self.folder / name
        folder.mkdir()
        model = {"LLM": "ollama", "OLLAMA_HOST": f"http://{model}"} if model else {}
        server = Server(self.binary("frontdesk"), folder, SETTINGS | model | settings)
        self.children.append(server)
        if database:
            shutil.copytree(database, folder / "database", dirs_exist_ok=True)
        else:
            command = [self.binary("upsert-warranty"), "--file", ROOT / "knowledge/warranty.csv"]
            subprocess.run(command, cwd=folder, env=server.env, check=True, capture_output=True)
        began = time.perf_counter()
        with on_core(SERVER_CORE):
            server.start()
        server.wait_ready()
        server.started_ms = (time.perf_counter() - began) * 1000
        server.address = f"127.0.0.1:{server.port}"
        return server

    def peer(self, model):
        """The address of the peer in Python."""
        port = free_port()
        environment = os.environ | {
            "DATABASE": str(self.folder / "peer.db"), "MODEL": f"http://{model}", "WARRANTY": str(ROOT / "knowledge/warranty.csv"),
        }
        command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port), "--loop", "uvloop", "--no-access-log"]
        return self.start(command, SERVER_CORE, r"running on http://(\S+)", cwd=ROOT / "benches/peer", env=environment)

    def model(self, core=CLIENT_CORE, **options):
        """The address of a model that streams."""
        given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return self._harness(core, "model", *given)

    def relay(self, model):
        """The address of a relay to the model."""
        return self._harness(SERVER_CORE, "relay", "--to", model)

    def _harness(self, core, *arguments):
        return self.start([self.binary("frontdesk-harness"), *arguments], core, r"listening on (\S+)")

    def start(self, command, core, pattern, **options):
        """Starts a program, and returns what the pattern finds in its output."""
        with on_core(core):
            child = Child(command, **options)
        self.children.append(child)
        return child.wait_for(pattern)

    def load(self, address, core=CLIENT_CORE, **options):
        """Sends turns to the address; what the client measured."""
        given = [word for name, value in options.items() for word in _option(name, value)]
        return self.run("load", "--to", address, *given, core=core)

    def run(self, *arguments, core=SERVER_CORE):
        command = [self.binary("frontdesk-harness"), *map(str, arguments)]
        with on_core(core):
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
        return json.loads(done.stdout)


def _option(name, value):
    flag = f"--{name.replace('_', '-')}"
    return [flag] if value is True else [flag, str(value)]


class Child:
    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)

    def wait_for(self, pattern):
        said = []
        for line in self.process.stdout:
            said.append(line)
            if found := re.search(pattern, line):
                return found[1]
        raise RuntimeError(f"{self.process.args[0]} did not start:\n{''.join(said)}")

    def close(self):
        self.process.terminate()
        self.process.wait()


def processor_seconds(pid):
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
