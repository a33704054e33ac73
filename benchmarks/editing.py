"""What an author waits for while typing: `python -m benchmarks.editing`.

Starts the language server as an editor does, opens the page of 32 pipelines beside 132 result documents of 40 kB, then
of 194 kB, and types and takes back single characters at places all over its comments. Prints the median and the 95th
percentile of the time from a keystroke to the findings of that very text and from a keystroke to what is offered there;
of both, what processors did for it in the server, which another program on the machine makes no longer, and what the
server waits in between; and the memory that it took at most. What is taken back counts by itself: it was known before.
Two pages of 10,000 comments follow: one is sound, and of the other nearly every comment has a finding.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import bson
from bson import json_util

from benchmarks.check_speed import machine
from tests.resultdocuments import result_documents

PAGE = Path("tests/acceptance/pages/report.md")
DOCUMENTS = 132
SIZES = (40_000, 194_000)
COMMENTS = 10_000


def sized_documents(number: int, size: int) -> Iterator[dict[str, Any]]:
    """Result documents of the experiments, filled up with counters of the server to ``size`` bytes of BSON."""
    found = (document for seed in count(1) for document in islice(result_documents(seed), 11))
    for place, document in enumerate(islice(found, number)):
        status = document["after_status"]
        missing = size - len(bson.encode(document))
        one = len(bson.encode(_section(0, place)))
        status |= {f"section {n}": _section(n, place) for n in range(max(missing // one, 0))}
        yield document | {"_id": document["_id"] | {"round": place}}


def _section(number: int, seed: int) -> dict[str, int]:
    return {f"counter {number:04} {k:02}": seed * k * 7919 for k in range(16)}


class Waited(NamedTuple):
    """The seconds that an author waits, and those of them in which processors worked for the server."""

    seconds: float
    worked: float


class Server:
    """The language server in a folder, and an editor that speaks to it."""

    def __init__(self, folder: Path) -> None:
        environment = dict(os.environ)
        command = [sys.executable, "-m", "mongo_tables.program", "lsp"]
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._uri = (folder / "docs/page.md").as_uri()
        self._numbers = count(1)
        self._version = 1
        self._left = b""
        self._typed = self._worked = 0.0
        self._found = 0, 0.0, 0.0
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self._send({"method": "initialized", "params": {}})

    def open(self, text: str) -> float:
        """Open the page; give the seconds until its findings are there."""
        item = {"uri": self._uri, "languageId": "markdown", "version": 1, "text": text}
        self._typed = time.perf_counter()
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        return self.time_findings().seconds

    def type(self, lines: Sequence[str], line: int, start: int, end: int, text: str) -> None:
        """Put a text in the place of some columns of a line. The server asks for the whole text."""
        self._version += 1
        changed = lines[line][:start] + text + lines[line][end:]
        whole = "\n".join([*lines[:line], changed, *lines[line + 1 :]])
        named = {"uri": self._uri, "version": self._version}
        params = {"textDocument": named, "contentChanges": [{"text": whole}]}
        self._typed, self._worked = time.perf_counter(), self.processor_seconds
        self._send({"method": "textDocument/didChange", "params": params})

    def time_findings(self) -> Waited:
        """From the last keystroke to the findings of the text as it is now."""
        while self._found[0] != self._version:
            self._receive()
        return Waited(self._found[1] - self._typed, self._found[2] - self._worked)

    def time_completion(self, line: int, column: int) -> Waited:
        """From the last keystroke until what is offered at a place is there."""
        place = {"textDocument": {"uri": self._uri}, "position": {"line": line, "character": column}}
        self.ask("textDocument/completion", place)
        return Waited(time.perf_counter() - self._typed, self.processor_seconds - self._worked)

    def ask(self, method: str, params: Any) -> Any:
        """Ask, and give the answer."""
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == number and "method" not in message:
                return message.get("result")

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout
        while True:
            head, found, rest = self._left.partition(b"\r\n\r\n")
            length = int(head.partition(b":")[2].split(b"\r\n")[0]) if found else 0
            if found and len(rest) >= length:
                self._left = rest[length:]
                message: dict[str, Any] = json.loads(rest[:length])
                params: Any = message.get("params")
                if message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == self._uri:
                    self._found = params.get("version", 0), time.perf_counter(), self.processor_seconds
                return message
            ready, _, _ = select.select([self._process.stdout], [], [], 300)
            if not ready:
                raise SystemExit("the server says nothing any more")
            self._left += os.read(self._process.stdout.fileno(), 1 << 20)

    @property
    def processor_seconds(self) -> float:
        """The processor seconds that the threads of the server have taken so far."""
        threads = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9

    @property
    def megabytes(self) -> int:
        """The memory that the server has taken at most."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))

    def close(self) -> None:
        """End the server."""
        self.ask("shutdown", None)
        self._send({"method": "exit"})
        self._process.wait(30)


def measure(folder: Path, text: str, keystrokes: int) -> None:
    """Print what typing into a page costs."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs/page.md").write_text(text, "utf-8")
    server = Server(folder)
    print(f"  opened in {server.open(text):.1f} s")
    lines, dice = text.split("\n"), random.Random(1)
    inside = [number for number, line in enumerate(lines) if '"' in line and line.startswith(" ")]
    inside = inside or [number for number, line in enumerate(lines) if '"' in line]
    findings: list[Waited] = []
    back: list[Waited] = []
    offers: list[Waited] = []
    for _ in range(keystrokes):
        line = dice.choice(inside)
        column = dice.randrange(1, len(lines[line]) + 1)
        server.type(lines, line, column, column, dice.choice('ax1"$.,'))
        offers.append(server.time_completion(line, column + 1))
        findings.append(server.time_findings())
        server.type(lines, line, column, column, "")  # the text as it was
        back.append(server.time_findings())
    _print("keystroke to findings", findings)
    _print("the same, taken back", back)
    _print("keystroke to what is offered", offers)
    print(f"  {server.megabytes} MB at most")
    server.close()


def _print(label: str, waited: Sequence[Waited]) -> None:
    middle, late = _percentiles([one.seconds for one in waited])
    print(
        f"  {label:<30} median {middle:7.1f} ms, 95th percentile {late:7.1f} ms; of it processors worked "
        "{:.1f} and {:.1f} ms".format(*_percentiles([one.worked for one in waited]))
    )


def _percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return ordered[int(len(ordered) * 0.5)] * 1000, ordered[int(len(ordered) * 0.95)] * 1000


def write_documents(folder: Path, size: int) -> None:
    """Write the result documents, of so many bytes each, as fixtures of a folder."""
    (folder / "fixtures/results").mkdir(parents=True)
    options = json_util.RELAXED_JSON_OPTIONS
    with (folder / "fixtures/results/all.jsonl").open("w", encoding="utf-8") as file:
        for document in sized_documents(DOCUMENTS, size):
            file.write(json_util.dumps(document, json_options=options) + "\n")


def _long_page() -> str:
    table = (
        '<!-- RESULT_TABLE: {"collection": "results", "where": {"n": %d}, "columns": ["n"], "sort": "n"} -->'
    )
    return "\n\n".join(f"## Part {number}\n\n{table % number}" for number in range(COMMENTS)) + "\n"


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("-n", "--keystrokes", type=int, default=150)
    given = options.parse_args()
    print(machine())
    text = PAGE.read_text("utf-8")
    for size in SIZES:
        print(f"{PAGE.name}, {DOCUMENTS} documents of {size // 1000} kB")
        with tempfile.TemporaryDirectory() as folder:
            write_documents(Path(folder), size)
            measure(Path(folder), text, given.keystrokes)
    for documents, told in ((COMMENTS, "all sound"), (COMMENTS // 100, "nearly all with a finding")):
        print(f"a page of {COMMENTS:,} comments, {told}")
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "fixtures/results"
            rows.mkdir(parents=True)
            (rows / "n.jsonl").write_text("".join(f'{{"_id": {n}, "n": {n}}}\n' for n in range(documents)))
            measure(Path(folder), _long_page(), max(given.keystrokes // 10, 3))


if __name__ == "__main__":
    main()
