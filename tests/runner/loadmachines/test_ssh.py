"""Load machines that are started by SSH, on loopback: with certificates of the run's own, of which nothing stays."""

from __future__ import annotations

import os

import asyncssh
import psutil

from mongo_tables.runner.store import FileStore
from tests.runner.loadmachines.sshserver import LOOPBACK, ssh_server
from tests.runner.processes import TINY, finish, start, wait_until

CERTIFICATES = "mongo-tables-*/key.pem"


def test_a_run_starts_its_machines_by_ssh_and_leaves_nothing_there(replica_set, tmp_path):
    file, folder = tmp_path / "tiny.toml", tmp_path / "temporary"
    folder.mkdir()
    file.write_text(TINY.replace("repeats = 3", "repeats = 1"))
    with ssh_server(tmp_path) as port:
        hosts = f"ssh:{LOOPBACK}:{port},{LOOPBACK}:{port}"
        environment = {
            **os.environ,
            "HOME": str(tmp_path),
            "TMPDIR": str(folder),
            "MONGO_TABLES_TARGET": replica_set.uri,
        }
        process = start(
            file, "--output", tmp_path, "--load-machines", hosts, "--processes", 1, env=environment
        )
        wait_until(process, lambda: [*folder.glob(CERTIFICATES)])
        (key,) = folder.glob(CERTIFICATES)
        assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        lines = [" ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"])]
        code, out, err = finish(process)
    assert (code, out) == (0, "tiny: 2 rows\n"), err
    assert not any("PRIVATE KEY" in line for line in lines)
    assert not key.parent.exists()
    for row in FileStore(tmp_path).rows("tiny"):
        assert [one["connections"] for one in row["client"]["machines"]] == [2, 1]
        assert all(one["clock_bound_seconds"] > 0 for one in row["client"]["machines"])


def test_hosts_that_do_not_let_us_in_are_told_of_in_a_line(tmp_path):
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    with ssh_server(tmp_path) as port:
        asyncssh.generate_private_key("ssh-ed25519").write_private_key(tmp_path / ".ssh" / "id_ed25519")
        environment = {
            **os.environ,
            "HOME": str(tmp_path),
            "SSH_AUTH_SOCK": "",
            "MONGO_TABLES_TARGET": "mongodb://127.0.0.1:1",
        }
        code, out, err = finish(
            start(file, "--output", tmp_path, "--load-machines", f"ssh:{LOOPBACK}:{port}", env=environment)
        )
    assert (code, out) == (2, "")
    told, hint = err.splitlines()
    assert told.startswith("mongo-tables: the load machines do not start by SSH: Permission denied")
    assert "without a password" in hint
