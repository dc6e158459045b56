"""The server as a child process, and PostgreSQL as another: in a folder of their own, ended by process id."""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY = "key-of-the-crash-test"


def find_binary(given):
    """The program to test: the given one, or the release, which is built."""
    if given:
        return Path(given).resolve()
    subprocess.run(["cargo", "build", "--release", "--locked", "--bin", "frontdesk"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "frontdesk"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One frontdesk, started again and again on the same port."""

    def __init__(self, binary, folder, settings):
        self.binary, self.folder = binary, folder
        self.port = free_port()
        self.process = None
        self.ready = threading.Event()
        self.log = folder / "server.log"
        shutil.copytree(ROOT / "prompts", folder / "prompts")
        shutil.copytree(ROOT / "knowledge", folder / "knowledge")
        (folder / "database").mkdir()
        known = {name for name in re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.M)}
        self.env = {name: value for name, value in os.environ.items() if name not in known}
        self.env |= {"BIND_ADDR": f"127.0.0.1:{self.port}", "X_API_KEYS": KEY, "LOG": "warn"} | settings

    def start(self):
        """Starts it and does not wait; `ready` is set when it listens."""
        assert self.process is None
        self.ready = ready = threading.Event()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "serve"], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )
        threading.Thread(target=self._listen, args=(self.process, ready), daemon=True).start()

    def _listen(self, process, ready):
        for line in process.stdout:
            with open(self.log, "ab") as log:
                log.write(line)
            if line.startswith(b"listening on "):
                # BIND_ADDR may leave the port to the system.
                self.port = int(line.rsplit(b":", 1)[1])
                ready.set()
        process.stdout.close()

    def wait_ready(self, seconds=300):
        end = time.monotonic() + seconds
        while not self.ready.wait(0.02):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server did not start ({self.process.poll()}):\n{self.tail()}")

    def run(self, *arguments, **options):
        """Runs a command of the program next to the server and returns its output."""
        command = [self.binary, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, **options)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}{done.stdout}")
        return done.stdout

    def kill(self):
        """SIGKILL, and gone when this returns."""
        process, self.process = self.process, None
        if process is not None:
            if process.poll() is not None:
                raise RuntimeError(f"the server had ended by itself ({process.returncode}):\n{self.tail()}")
            process.kill()
            process.wait()

    def close(self):
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def resident(self):
        """Resident memory in KiB (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def tail(self, lines=15):
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])


class Postgres:
    """A temporary cluster on a free port of 127.0.0.1."""

    def __init__(self, folder):
        found = shutil.which("initdb") or max(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), default=None)
        if not found:
            raise RuntimeError("PostgreSQL's initdb is not found: install it, or give --database a URL")
        self.bin = Path(found).resolve().parent
        self.folder = folder / "postgres"
        self.folder.mkdir()
        # PostgreSQL refuses to run as root.
        self.user = {}
        if os.geteuid() == 0:
            folder.chmod(0o711)
            shutil.chown(self.folder, "nobody", "nogroup")
            self.user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        self.port = free_port()
        self.url = f"postgres://frontdesk@127.0.0.1:{self.port}/postgres"
        self.data = self.folder / "data"
        self.run(f"{self.bin}/initdb", "-D", self.data, "-U", "frontdesk", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        self.running = False
        self.start()

    def run(self, *command):
        # Write to a file, since the server that pg_ctl starts would keep a pipe open.
        with open(self.folder / "ctl.log", "ab") as log:
            subprocess.run(
                list(map(str, command)), cwd="/", check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.user
            )

    def start(self):
        options = f"-h 127.0.0.1 -p {self.port} -k '{self.folder}' -c max_connections=200 -c fsync=off -c full_page_writes=off"
        self.run(f"{self.bin}/pg_ctl", "-D", self.data, "-l", self.folder / "log", "-o", options, "-w", "start")
        self.running = True

    def stop(self, mode):
        """`fast`: sessions are cut; `immediate`: as if the power went."""
        self.running = False
        self.run(f"{self.bin}/pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def outage(self, _mode):
        """What /readyz must report while the cluster is stopped."""
        return "no_answer"

    def close(self):
        file = self.data / "postmaster.pid"
        if not file.exists():
            return
        pid = int(file.read_text().split()[0])
        for sent in (signal.SIGINT, signal.SIGKILL):
            try:
                os.kill(pid, sent)
                for _ in range(50):
                    time.sleep(0.1)
                    os.kill(pid, 0)
            except ProcessLookupError:
                return
