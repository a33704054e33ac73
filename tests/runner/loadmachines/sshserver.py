"""An SSH server on loopback for a test: it lets one key in, runs commands, and takes files."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncssh

LOOPBACK = "127.0.0.1"


@contextmanager
def ssh_server(home: Path) -> Iterator[int]:
    """The port of one that whoever has ``home`` as home may sign in to, as ``ssh`` would."""
    folder = home / ".ssh"
    folder.mkdir(mode=0o700)
    key, host_key = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    key.write_private_key(folder / "id_ed25519")
    key.write_public_key(folder / "authorized_keys")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(_listen(host_key, folder / "authorized_keys"), loop).result(
        30
    )
    port = listening.get_port()
    known = host_key.export_public_key().decode().strip()
    (folder / "known_hosts").write_text(f"[{LOOPBACK}]:{port} {known}\n")
    try:
        yield port
    finally:
        asyncio.run_coroutine_threadsafe(_end(listening), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


async def _listen(host_key: asyncssh.SSHKey, allowed: Path) -> asyncssh.SSHAcceptor:
    return await asyncssh.listen(
        LOOPBACK,
        0,
        server_host_keys=[host_key],
        authorized_client_keys=str(allowed),
        process_factory=_run,
        sftp_factory=True,
    )


async def _run(process: asyncssh.SSHServerProcess) -> None:
    """Run a command as long as somebody is there to hear it."""
    child = subprocess.Popen(
        process.command or "true",
        shell=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
    try:
        while child.poll() is None and not process.is_closing():
            await asyncio.sleep(0.05)
    finally:
        child.kill()
        child.wait()
    process.exit(max(child.returncode, 0))
    await process.wait_closed()  # Its pipes are closed by coroutines that nobody else awaits.


async def _end(listening: asyncssh.SSHAcceptor) -> None:
    """Hear nobody any more, and leave nothing under way."""
    listening.close()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
