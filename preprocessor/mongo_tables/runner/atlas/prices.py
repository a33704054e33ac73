"""What clusters cost an hour, from a table that has a date: nothing is made whose price is not in it."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from mongo_tables.runner.atlas.machine import STANDARD, AtlasMachine
from mongo_tables.runner.errors import RunnerError

OWN: Final = Path(__file__).with_name("prices.toml")
CURRENCY: Final = "USD"


class Price(NamedTuple):
    """Of a machine in a region; of a STANDARD disk any operations."""

    tier: str
    disk: str
    iops: int | None
    gb: int
    region: str

    @classmethod
    def wanted_for(cls, machine: AtlasMachine) -> Price:
        """What a line has to say to be that of the machine."""
        return cls(machine.tier, machine.disk, machine.iops, machine.gb, machine.region)

    def __str__(self) -> str:
        """The line of a table without its price, which nobody can take for one."""
        iops = "" if self.iops is None else f"iops = {self.iops}, "
        return (
            f'{{ tier = "{self.tier}", region = "{self.region}", disk = "{self.disk}", {iops}gb = {self.gb}, '
            "per_hour = ? },"
        )


class Prices(NamedTuple):
    """A table: when its prices were so, who says so, and the price of an hour of a whole cluster."""

    date: datetime.date
    source: str
    per_hour: Mapping[Price, float]

    def of(self, machine: AtlasMachine) -> float:
        """What an hour costs; raises RunnerError where that is not known."""
        try:
            return self.per_hour[Price.wanted_for(machine)]
        except KeyError:
            raise RunnerError(
                f"what {machine} costs is not known: no line of the prices of {self.date} has it",
                "write it into a table of prices and name that with --prices; the page on Atlas has the form, and "
                "--dry-run the lines that lack",
            ) from None

    def lacking(self, machines: Iterable[AtlasMachine]) -> list[Price]:
        """The lines that are not there, each once."""
        wanted = dict.fromkeys(map(Price.wanted_for, machines))
        return [one for one in wanted if one not in self.per_hour]

    def __str__(self) -> str:
        return f"{self.source}, {self.date}"


def read_prices(path: Path = OWN) -> Prices:
    """Read a table; raises RunnerError for one that is none."""
    try:
        found = tomllib.loads(path.read_text("utf-8"))
        date, source = found["date"], found["source"]
        if type(date) is not datetime.date or not isinstance(source, str) or found["currency"] != CURRENCY:
            raise ValueError(f"date is a date, source a text, and currency {CURRENCY!r}")
        return Prices(date, source, dict(map(_line, found["prices"])))
    except OSError as error:
        raise RunnerError(f"the prices {path} cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise RunnerError(
            f"the prices {path} lack {error.args[0]}", "the page on Atlas has the form"
        ) from None
    except (ValueError, TypeError) as error:
        raise RunnerError(
            f"the prices {path} cannot be used: {error}", "the page on Atlas has the form"
        ) from None


def prices_named(path: str | None) -> Prices:
    """Those of the file, or the program's own. Raises RunnerError."""
    return read_prices(Path(path) if path else OWN)


def _line(line: Mapping[str, Any]) -> tuple[Price, float]:
    standard = line["disk"] == STANDARD
    machine = Price(
        line["tier"], line["disk"], None if standard else int(line["iops"]), int(line["gb"]), line["region"]
    )
    per_hour = float(line["per_hour"])
    if not 0 < per_hour < float("inf"):
        raise ValueError(f"{per_hour:g} is no price of an hour")
    return machine, per_hour
