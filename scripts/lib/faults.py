"""Faults of the disk below an SQLite database: full, failing, read-only."""
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("failing_disk.c")
MODES = ["full", "failing", "read-only"]
ERRNO = {"full": errno.ENOSPC, "failing": errno.EIO, "read-only": errno.EROFS}
TMPFS_MB = 64


def become_root():
    """Continues in a user namespace, where a file system can be mounted, if this user is not root and has one."""
    unshare = ["unshare", "--map-root-user", "--mount"]
    if os.geteuid() != 0 and shutil.which("unshare") and _succeeds(*unshare, "true"):
        os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


class FailingDisk:
    """The disk of one database. Stops and starts as a PostgreSQL cluster does."""

    def __init__(self, scratch, folder):
        self.folder, self.flag, self.filler = folder, scratch / "fault", folder / "filler"
        self.mounted = os.geteuid() == 0 and _succeeds("mount", "-t", "tmpfs", "-o", f"size={TMPFS_MB}m", "tmpfs", folder)
        library = scratch / "failing_disk.so"
        self.preloads = _succeeds("cc", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl")
        self.settings = {"LD_PRELOAD": str(library), "FAULT_FILE": str(self.flag)} if self.preloads else {}
        if not self.mounted and not self.preloads:
            sys.exit("--outages needs a C compiler, or a user who can mount a tmpfs")
        if not self.mounted:
            print("skipped: a disk that is really full: this user cannot mount a tmpfs", flush=True)
        if not self.preloads:
            print("skipped: a disk that fails or is read-only: cc is not installed, or compiled nothing", flush=True)

    def stop(self, mode):
        if mode == "full" and self.mounted or not self.preloads and self.mounted:
            self._fill()
        elif self.preloads:
            # At once: the server must not read half a number.
            (new := self.flag.with_suffix(".new")).write_text(str(ERRNO[mode]))
            new.rename(self.flag)

    def outage(self, mode):
        """What /readyz must report in this mode. None if a disk that is really full may still have space for some writes."""
        if self.mounted and (mode == "full" or not self.preloads):
            return None
        return "disk_full" if mode == "full" else "disk_error"

    def start(self):
        self.flag.unlink(missing_ok=True)
        self.filler.unlink(missing_ok=True)

    def close(self):
        self.start()
        if self.mounted:
            # Lazily: the server was just killed.
            _succeeds("umount", "--lazy", self.folder)

    def _fill(self):
        with open(self.filler, "wb", buffering=0) as filler:
            for size in (1024 * 1024, 4096):
                try:
                    while True:
                        filler.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise


def _succeeds(*command):
    try:
        return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
