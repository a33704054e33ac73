"""A process that starts the servers of a run and ends them when the run ends.

A runner that is killed cannot end its servers. So the servers are children of this process, which waits for the end of
its standard input: the operating system closes that pipe when the runner ends for any reason. Then, or at SIGTERM, this
process ends every server by its process id and removes the directory with the servers' data. If this process is killed
itself, Linux ends the servers, and the runner removes the directory.

The first line of standard input is ``{"directory": ..., "commands": [[...], ...]}``; the answer on standard output is
one line, ``{"pids": [...]}``. The module runs as a file, with the standard library only.
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
"""The name of the file in the servers' directory with output that is not in their logs, such as errors about options.
"""
_PR_SET_PDEATHSIG = 1
if sys.platform == "linux":
    _LIBC = ctypes.CDLL(None)


def main() -> int:
    """Start the servers and wait until the runner ends. Then end the servers and remove their directory."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the block ``finally`` below ends the servers
    order = json.loads(sys.stdin.readline())
    servers: list[subprocess.Popen[bytes]] = []
    try:
        for command in order["commands"]:
            servers.append(_start(command, order["directory"]))
        print(json.dumps({"pids": [server.pid for server in servers]}), flush=True)
        sys.stdin.read()
    except OSError:  # the program cannot be started; the runner sees that there is no answer
        return 1
    finally:
        for server in servers:
            # The servers need no orderly end, because their data is deleted.
            with suppress(OSError):  # the server and its children have ended
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        shutil.rmtree(order["directory"], ignore_errors=True)
    return 0


def _start(command: list[str], directory: str) -> subprocess.Popen[bytes]:
    """Start a server in its own process group, because the given program may be a script that starts the server."""
    supervisor = os.getpid()
    with open(os.path.join(directory, OUTPUT), "ab") as output:  # noqa: PTH118, PTH123 - nothing more is imported
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, process_group=0,
            preexec_fn=lambda: _die_with(supervisor),
        )  # fmt: skip


def _die_with(parent: int) -> None:
    """Make Linux kill this process, which becomes a server, when its parent ends (prctl(2))."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the call of prctl
            os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
