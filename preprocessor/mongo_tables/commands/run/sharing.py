"""Which experiments are measured on which targets, known before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from mongo_tables.runner.cache_size import follows_cache
from mongo_tables.runner.errors import TargetError
from mongo_tables.runner.local_address import is_local, parse_local
from mongo_tables.runner.named_targets import (
    NamedTarget,
    differing,
    machines_without_target,
    names_machines,
    variants_for,
)
from mongo_tables.runner.options import Options
from mongo_tables.runner.request_options import check_options
from mongo_tables.runner.runs import choose_variants, obstacle

if TYPE_CHECKING:
    from mongo_tables.runner.experiment import Experiment
    from mongo_tables.runner.store import Store
    from mongo_tables.runner.target import Target


@dataclass(frozen=True, slots=True)
class Opened:
    """A target with its name."""

    named: NamedTarget
    target: Target


AnyOpened = TypeVar("AnyOpened", bound=Opened)


def share_out(
    wanted: Sequence[Experiment],
    options: Options,
    places: Sequence[AnyOpened],
    store: Store,
    *,
    leave_out: bool,
) -> list[tuple[Experiment, list[AnyOpened]]]:
    """The experiments, each with its targets.

    With ``leave_out``, experiments that cannot be run are left out, which is printed. Raises TargetError when one
    cannot be run otherwise, and when a connection string asks for what the client does not do.
    """
    for place in places:
        check_options(place.target.given, options.client)
    tasks: list[tuple[Experiment, list[AnyOpened]]] = []
    for experiment in wanted:
        try:
            lacking = machines_without_target(experiment, [place.named for place in places])
            its = list(_allowed(experiment, options, places, store, leave_out=leave_out))
            _check_same_data(experiment, [place.named for place in its])
        except TargetError as error:
            if not leave_out:
                raise
            print(f"{experiment.name}: left out, {error}", flush=True)
            continue
        if its:
            tasks.append((experiment, its))
        for place in its:
            _say_equal(experiment, options, place)
        if lacking:
            print(
                f"{experiment.name}: left out {', '.join(lacking)}, for which no target is named", flush=True
            )
    return tasks


def _say_equal(experiment: Experiment, options: Options, place: Opened) -> None:
    """Print which variants are left out, since others are the same work on the machine that the target gives them."""
    numbers = variants_for(experiment, place.named)
    measured = choose_variants(experiment, options, place.target, place.named)
    if equal := [str(number + 1) for number in numbers if number not in measured]:
        print(
            f"{experiment.name}: left out variants {', '.join(equal)}, which ask for another "
            f"{' or '.join(differing(experiment, numbers))}; {place.target.name} would measure the same again "
            "(--as-is does)",
            flush=True,
        )


def _allowed(
    experiment: Experiment, options: Options, places: Sequence[AnyOpened], store: Store, *, leave_out: bool
) -> Iterator[AnyOpened]:
    """The targets that have variants of the experiment and can run it.

    One that cannot is said to be left out, or TargetError is raised.
    """
    for place in places:
        if not variants_for(experiment, place.named):
            continue
        found = obstacle(experiment, options, place.target, store, place.named)
        if found is None:
            yield place
        elif leave_out:
            print(f"{found[0]}: left out, {found[1]}", flush=True)
        else:
            raise TargetError(*found)


def _check_same_data(experiment: Experiment, targets: Sequence[NamedTarget]) -> None:
    """Raise TargetError where local targets side by side would have different data, since that follows their caches."""
    caches = {parse_local(one.where).cache_gb for one in targets if is_local(one.where)}
    if len(caches) > 1 and follows_cache(experiment) and not names_machines(experiment):
        raise TargetError(
            f"{experiment.name} loads as much data as its cache asks for: with different cacheGB the targets would "
            "have different data",
            "give all of them the same cacheGB, or none",
        )
