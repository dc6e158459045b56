#!/usr/bin/env python3
"""Requests made from /openapi.json, good and bad, against a server without limits: each answer must be as described.

    by_description.py BINARY SEED

The endless streams of events are left out. Run by scripts/test, with the Python that schemathesis is installed in.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from child import KEY, Server

LIMITS_OFF = {
    "KEY_RATE_LIMIT_PER_SECOND": "0",
    "RATE_LIMIT_PER_SECOND": "0",
    "TURNS_PER_MINUTE": "0",
    "TURNS_WAITING_MAX": "1000000",
    "TURNS_WAITING_TOTAL": "1000000",
}


def main():
    binary, seed = Path(sys.argv[1]).resolve(), sys.argv[2]
    folder = Path(tempfile.mkdtemp(prefix="by-description-"))
    server = None
    try:
        settings = {"DATABASE_URL": "sqlite://database/frontdesk.db", "LLM": "offline", "LOG": "error"}
        server = Server(binary, folder, settings | LIMITS_OFF)
        server.start()
        server.wait_ready()
        command = [Path(sys.executable).with_name("schemathesis"), "run", f"http://127.0.0.1:{server.port}/openapi.json"]
        command += ["--header", f"X-API-Key: {KEY}", "--checks", "all", "--exclude-path", "/conversations/{id}/events"]
        command += ["--exclude-path", "/console/api/events"]
        command += ["--seed", seed, "--max-examples", "15", "--max-time", "60", "--generation-database", "none", "--no-color"]
        # NUL is refused everywhere, which a pattern cannot say in every dialect.
        command += ["--generation-allow-x00", "false"]
        hooks = {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(Path(__file__).resolve().parent)}
        env = os.environ | hooks | {"PYTHONDONTWRITEBYTECODE": "1", "NO_PROXY": "127.0.0.1"}
        return subprocess.run(list(map(str, command)), cwd=folder, env=env).returncode
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
