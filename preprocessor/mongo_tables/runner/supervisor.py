"""A small process that outlives nobody: it holds servers for a run and ends them when the run is gone.

The runner may be killed in a way that no handler sees. So the servers are children of this process instead,
which does nothing but wait for the end of its standard input: the operating system closes that pipe when the
runner ends, however it ends. Then, or when it is itself told to end, every server is ended by its process id and the
directory with their data is removed. Where this process is killed itself, Linux ends the servers with it, and the run
removes what is left.

The first line of standard input is ``{"directory": ..., "commands": [[...], ...]}``; the answer on standard
output is one line, ``{"pids": [...]}``. Each further line names a control group that was made for a server, which is
removed as well. The module is run as a file, with the standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress

OUTPUT = "output"
"""What servers say that is not in their logs, in their directory: that they do not take an option."""
_PR_SET_PDEATHSIG = 1
if sys.platform == "linux":
    _LIBC = ctypes.CDLL(None)


def main() -> int:
    """Start the servers, wait until the runner is gone, end them, remove their directory."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers are ended then too
    order = json.loads(sys.stdin.readline())
    servers: list[subprocess.Popen[bytes]] = []
    groups = ""
    try:
        for command in order["commands"]:
            servers.append(_start(command, order["directory"]))
        print(json.dumps({"pids": [server.pid for server in servers]}), flush=True)
        groups = sys.stdin.read()
    except OSError:  # the program cannot be started; that there is no answer tells it
        return 1
    finally:
        for server in servers:
            # The data is thrown away with the directory, so there is nothing a gentle end would save.
            with suppress(OSError):  # it has ended, and all that it started
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        shutil.rmtree(order["directory"], ignore_errors=True)
        for group in groups.splitlines():
            with suppress(OSError):
                os.rmdir(group)  # noqa: PTH106 - nothing is imported that only this needs
    return 0


def _start(command: list[str], directory: str) -> subprocess.Popen[bytes]:
    """Start a server with a group of its own: what is named as the server may be a script that starts it."""
    supervisor = os.getpid()
    with open(os.path.join(directory, OUTPUT), "ab") as output:  # noqa: PTH118, PTH123 - nothing more is imported
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0,
            preexec_fn=lambda: _die_with(supervisor),
        )  # fmt: skip


def _die_with(parent: int) -> None:
    """Have the kernel kill this process, a server to be, when its parent ends (prctl(2)). Linux only."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it had ended before
            os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
