"""Words that say no more of a figure than that something has it: `decodes the file in`, `needs`, `for`.

Every other word may be a condition, a judgement or another measure, of which the cell of a table says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from mongo_tables.pages.prose.paragraphs import BLANK

_WORD: Final = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_SIGN: Final = re.compile(rf"~~|[^\w\s,.:;()\[\]|`*_/>~≈=·–—'’{BLANK}-]")
_PER_SECOND: Final = re.compile(r"\bper\s+second\b", re.IGNORECASE)
_LEAST_STEM: Final = 3


def stem(word: str) -> str:
    """What forms of a word have in common: `decod` of `decode`, `decodes` and `decoding`."""
    word = re.sub(r"['’]s?\Z", "", word.lower())
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= _LEAST_STEM:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > _LEAST_STEM and word[-2:] in ("nn", "tt", "pp", "mm") else word


def read_words(text: str) -> frozenset[str]:
    """The words of a text that has nothing between them but blanks."""
    return frozenset(text.split())


_FUNCTION: Final = read_words("""
    a about sits also an and approx approximately are around at average by circa currently does did for had has
    have here in is it now of on or our out ran respectively roughly s same the there they this
    these to us using via was we were whereas while with you again own got did done took taken entire
    whole given typical per each that
""")
"""Words of grammar, and those that leave open what is meant."""
_VERBS: Final = read_words("""
    achieve answer clock come cost deliver do execute finish get handle hit ingest land manage measure
    need perform process produce reach require respond return run score see serve show stand
    sustain take use wait
""")
_OPERATIONS: Final = read_words("""
    analyse analyze apply calculate check classify compare compress compute convert copy count crawl decode
    decompress decrypt delete deserialise deserialize detect dispatch draw dump encode encrypt evaluate
    extract fetch filter find format generate hash index infer insert iterate join lint load lookup match
    merge multiply pack parse predict print query read render resize resolve reverse route scan search
    serialise serialize sign simulate solve sort split sum tokenise tokenize transcode transform translate
    traverse typecheck unpack update validate verify walk write zip
""")
"""What benchmarks time."""
_OBJECTS: Final = read_words("""
    array base byte bytes case code codebase corpus csv data dataset dependency dict dependencies directory
    document element entry entries file folder graph html image input integer item iteration json key line
    list lockfile log message number object op operation page pattern payload photo picture project query queries record
    repo repository request response row sample set source string suite table template test text token tree value word
    workload xml yaml
""")
"""What they work on; behind a name it would be another thing of that name: `the rg repository`."""
KINDS: Final = read_words("""
    algorithm benchmark cache codec command crate database decoder encoder engine formatter implementation
    library linter package parser resolver serializer tool
""")
"""What something that is measured may be, right beside its name."""
_TIMED: Final = read_words("""
    benchmark call duration figure measurement memory performance rate result run runtime speed time timing
    throughput latency mean median average
""")
"""What is measured of it."""
_NOUNS: Final = read_words("""
    compression computation conversion decompression deserialization evaluation execution extraction generation
    insertion lookup processing resolution serialization validation
""")
"""What is done, as a noun."""
_WHERE: Final = read_words("computer hardware laptop machine readme setup")
_MEASURES: Final = {
    "mean": "mean average avg",
    "median": "median",
    "min": "min minimum",
    "max": "max maximum",
    "deviation": "deviation stddev sd",
    "percentile": "percentile",
    "throughput": "throughput rate",
    "latency": "latency",
    "memory": "memory ram rss heap footprint allocate occupy consume",
    "size": "size",
    "cpu": "cpu",
    "user": "user",
    "system": "system sys",
    "wall": "wall elapsed",
    "total": "total overall",
}
"""What of a benchmark is told, each with the words for it."""
_MEASURE_OF: Final = {stem(word): measure for measure, words in _MEASURES.items() for word in words.split()}
_PERCENTILE: Final = re.compile(r"p\d{2,3}(?:\.\d+)?")


def _stems(*lists: Collection[str]) -> frozenset[str]:
    return frozenset(stem(word) for words in lists for word in words)


_ACTIONS: Final = _stems(_OPERATIONS)
_THINGS: Final = _stems(_OBJECTS)
_MEASURED: Final = _stems(_TIMED)
_PLACES: Final = _stems(_WHERE)
_PLAIN: Final = _stems(_VERBS, _OPERATIONS, _NOUNS, _OBJECTS, _TIMED, _WHERE)


def list_words(text: str) -> list[str]:
    """The words of a text, as they are written; a number is one as well."""
    return _WORD.findall(text)


def find_unknown(text: str, known: Collection[str] = ()) -> str:
    """The first word or sign that is none of these; "" without one. ``known`` are stems of others."""
    for word in list_words(_PER_SECOND.sub("", text)):
        is_plain = word.lower() in _FUNCTION or read_measure(word) or stem(word) in _PLAIN
        if not is_plain and stem(word) not in known:
            return word
    sign = _SIGN.search(text)
    return sign[0] if sign else ""


def read_measure(word: str) -> str:
    """The measure that a word is for, as `max` of `maximum`; "" for any other word."""
    plain = word.lower()
    return plain if _PERCENTILE.fullmatch(plain) else _MEASURE_OF.get(stem(word), "")


def is_action(word: str) -> bool:
    """Whether a word is for what benchmarks time."""
    return stem(word) in _ACTIONS


def is_thing(word: str) -> bool:
    """Whether a word is for what benchmarks work on."""
    return stem(word) in _THINGS


def is_place(word: str) -> bool:
    """Whether a word is for what benchmarks run on."""
    return stem(word) in _PLACES


def is_measured(word: str) -> bool:
    """Whether a word is for what is measured, or for a run of it."""
    return stem(word) in _MEASURED or bool(read_measure(word))
