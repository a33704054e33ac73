"""Certificates of one authority, as files, and the settings by which Dask finds them."""

from __future__ import annotations

from pathlib import Path


def write_certificates(folder: Path) -> dict[str, str]:
    """Make them; give the environment of every process that is to have them."""
    from distributed import Security

    made = Security.temporary()
    files = {
        "ca": made.tls_ca_file,
        "cert": made.tls_scheduler_cert,
        "key": made.tls_scheduler_key,
    }
    for name, content in files.items():
        path = folder / f"{name}.pem"
        path.touch(mode=0o600)
        path.write_text(content)
    settings = "DASK_DISTRIBUTED__COMM__"
    return {
        f"{settings}REQUIRE_ENCRYPTION": "True",
        f"{settings}TLS__CA_FILE": str(folder / "ca.pem"),
        **{
            f"{settings}TLS__{role}__{kind.upper()}": str(folder / f"{kind}.pem")
            for role in ("SCHEDULER", "WORKER", "CLIENT")
            for kind in ("cert", "key")
        },
    }
