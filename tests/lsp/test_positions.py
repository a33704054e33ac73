"""Places as editors count them: lines end at CR LF, LF or CR, columns are UTF-16 code units."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from mongo_tables.lsp.diagnostics import Lines

TEXTS = st.text(st.sampled_from('a"\n\r é😀\u2028\x0c\t'), max_size=60)


def test_a_character_beyond_the_basic_plane_is_two_columns_wide() -> None:
    lines = Lines("a😀b\nc")
    places = [(0, 0), (0, 1), (0, 3), (0, 4), (1, 0), (1, 1)]
    assert [lines.position(offset) for offset in range(6)] == [Position(*place) for place in places]
    assert lines.offset(Position(0, 3)) == 2
    assert lines.offset(Position(0, 99)) == 3
    assert lines.offset(Position(99, 0)) == 5


def test_only_the_ends_of_lines_of_the_protocol_end_lines() -> None:
    lines = Lines("a\u2028b\x0cc\r\nd\re")
    assert len(lines) == 3
    assert [lines.start_of(line) for line in range(3)] == [0, 7, 9]
    assert lines.end_of(0) == 5


@given(TEXTS)
def test_every_offset_is_found_again_by_its_place(text: str) -> None:
    lines = Lines(text)
    for offset in range(len(text) + 1):
        inside = text[max(offset - 1, 0) : offset + 1] == "\r\n" and offset > 0
        assert lines.offset(lines.position(offset)) == (offset - 1 if inside else offset)
