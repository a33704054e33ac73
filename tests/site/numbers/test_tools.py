"""A README held to the file of a benchmark tool, in the words of that tool; the numbers are invented."""

from __future__ import annotations

from pathlib import Path

from tests.commands.test_commands import mongo_tables

GO = """goos: linux
pkg: example.com/json
BenchmarkParse-8    100000    11104 ns/op    6216 B/op    6 allocs/op
BenchmarkPrint-8    100000     9213 ns/op    4100 B/op    8 allocs/op
BenchmarkWalk-8     100000     3213 ns/op    1100 B/op    3 allocs/op
PASS
"""
README = """# json

`BenchmarkPrint` takes 9.2 µs and 8 allocs/op. Parse takes 11.1 µs with 6,216 B/op and 6 allocs/op.

Walk takes 3.9 µs with 1,100 B/op and 3 allocs/op.

| Benchmark | Time ns/op | allocs/op |
| --- | --- | --- |
| Parse | 11104 | 6 |
| Print | 9213 | 7 |
"""


def test_numbers_of_go_have_its_names_and_its_units(tmp_path: Path) -> None:
    (tmp_path / "bench.txt").write_text(GO)
    (tmp_path / "README.md").write_text(README)
    done = mongo_tables(
        "check", "--numbers", "README.md", "--results", "bench.txt", "--report", cwd=tmp_path, expect=1
    )
    told = [line.partition("MT326 ")[2] for line in done.stdout.splitlines() if "MT326" in line]
    assert told == [
        "`3.9 µs`: row `walk`, column `time` is 3.213 µs now",
        "`7`: row `print`, column `allocs/op` is 8 now",
    ], done.stdout
    assert "12 numbers: 0 bound, 10 found" in done.stdout


def test_what_an_item_begins_with_names_the_rows_of_its_sentences(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("part,raw_kb,gzip_kb\ncore,2.31,0.84\ncli,5.48,1.72\n")
    (tmp_path / "README.md").write_text(
        "- **core** is small. It has 2.3 kB.\n- **cli** is large. It has 2.3 kB.\n\nThe core has 0.91 kB gzipped.\n"
    )
    done = mongo_tables(
        "check", "--numbers", "README.md", "--results", "sizes.csv", "--report", cwd=tmp_path, expect=1
    )
    assert "README.md:4:14: warning MT326 `0.91 kB`: row `core`, column `gzip_kb` is 0.84 now" in done.stdout
    assert [line for line in done.stdout.splitlines() if ": open " in line] == [
        "README.md:2:28: open `2.3 kB`", "README.md:4:14: open `0.91 kB`",
    ]  # fmt: skip
