"""What a run may cost at most: said so that whoever allows it allows enough."""

from __future__ import annotations

import datetime

import pytest

from mongo_tables.findings.usage import CommandError
from mongo_tables.runner.atlas.address import AtlasMachine
from mongo_tables.runner.atlas.costs import Cost, Prices, check_cost, total_cost

MACHINE = AtlasMachine("M50", "PROVISIONED", 3000, 200, "EU_WEST_1", "8.0")
PRICES = Prices(datetime.date(2026, 11, 1), "a test", {})


def costs(*dollars):
    return [Cost(MACHINE, 1, 1.0, one) for one in dollars]


@pytest.mark.parametrize(
    ("dollars", "said"),
    [((4.084,), 4.09), ((4.08,), 4.08), ((0.1, 0.2), 0.3), ((2.041, 2.041), 4.09), ((0.0001,), 0.01)],
)
def test_all_of_it_is_said_in_whole_cents_and_is_no_less_than_it_is(dollars, said):
    assert total_cost(costs(*dollars)) == said


def test_the_cost_that_a_hint_names_is_enough_and_a_cent_less_is_not():
    with pytest.raises(CommandError) as asked:
        check_cost(costs(4.084), None, PRICES)
    assert "allow this cost with --max-cost 4.09" in asked.value.hint
    check_cost(costs(4.084), 4.09, PRICES)
    with pytest.raises(CommandError, match=r"may cost 4\.09 USD .* --max-cost is 4\.08"):
        check_cost(costs(4.084), 4.08, PRICES)
