"""What the language server takes of a machine's memory, beside results that are large."""

from __future__ import annotations

from pathlib import Path

from benchmarks.editing import PAGE, SIZES, Server, write_documents


def test_beside_25_mb_of_results_a_page_takes_less_than_200_mb(tmp_path: Path) -> None:
    write_documents(tmp_path, SIZES[-1])
    (tmp_path / "docs").mkdir()
    text = PAGE.read_text("utf-8").replace('{"$match": {"_id.testname"', '{"$match": {"_id.tetsname"', 1)
    (tmp_path / "docs/page.md").write_text(text, "utf-8")
    server = Server(tmp_path)
    server.open(text)
    line = next(number for number, line in enumerate(text.split("\n")) if '"$sort"' in line)
    for letter in "fast":
        server.type(line, 0, 0, letter)
        server.time_completion(line, 1)
        server.time_findings()
    assert server.megabytes < 200
    server.close()
