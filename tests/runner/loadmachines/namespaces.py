"""Network namespaces as machines of a test: each has an address, and a link that takes so many bits a second.

One more has the bridge that they are linked to: there runs what they are to reach. This machine's own network stays as
it is, and all of them are removed at the end.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

MIDDLE_ADDRESS = "10.213.0.1"


def can_make_them() -> bool:
    """Whether this user may, which takes the right to administer the network."""
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0


needs_namespaces = pytest.mark.skipif(not can_make_them(), reason="no right to make network namespaces")


@dataclass(frozen=True)
class Namespace:
    """One of them; ``link`` is the end of its link in the one in the middle."""

    name: str
    link: str = ""

    def command(self, *words: str) -> list[str]:
        """A command that runs in it."""
        return ["ip", "netns", "exec", self.name, *words]

    def do(self, *words: str) -> None:
        subprocess.run(self.command(*words), check=True)


@dataclass(frozen=True)
class Network:
    middle: Namespace
    machines: list[Namespace]


@contextmanager
def namespaces(count: int, bits_per_second: int) -> Iterator[Network]:
    """So many machines, each with the same bandwidth towards it and from it."""
    prefix = f"mt{os.getpid() % 100_000}"
    made = Network(Namespace(f"{prefix}m"), [])
    subprocess.run(["ip", "netns", "add", made.middle.name], check=True)
    try:
        made.middle.do("ip", "link", "add", "bridge0", "type", "bridge")
        made.middle.do("ip", "addr", "add", f"{MIDDLE_ADDRESS}/24", "dev", "bridge0")
        made.middle.do("ip", "link", "set", "bridge0", "up")
        made.middle.do("ip", "link", "set", "lo", "up")
        for number in range(count):
            machine = Namespace(f"{prefix}n{number}", f"link{number}")
            subprocess.run(["ip", "netns", "add", machine.name], check=True)
            made.machines.append(machine)
            _link(made.middle, machine, f"10.213.0.{number + 2}/24", bits_per_second)
        yield made
    finally:
        for one in (*made.machines, made.middle):
            subprocess.run(["ip", "netns", "del", one.name], check=True)


def _link(middle: Namespace, machine: Namespace, address: str, bits_per_second: int) -> None:
    shaped = ["root", "tbf", "rate", f"{bits_per_second}bit", "burst", "16kb", "latency", "200ms"]
    middle.do(
        "ip", "link", "add", machine.link, "type", "veth", "peer", "name", "eth0", "netns", machine.name
    )
    middle.do("ip", "link", "set", machine.link, "master", "bridge0", "up")
    middle.do("tc", "qdisc", "add", "dev", machine.link, *shaped)
    machine.do("ip", "addr", "add", address, "dev", "eth0")
    machine.do("ip", "link", "set", "eth0", "up")
    machine.do("ip", "link", "set", "lo", "up")
    machine.do("tc", "qdisc", "add", "dev", "eth0", *shaped)
