"""What pages say of the size of a run: for each parameter whether it scales, and what its size here changes."""

from __future__ import annotations

from typing import Any, Final

from mongo_tables.directives import schemas
from mongo_tables.runner.experiment import LABELS, Experiment, configs
from mongo_tables.runner.in_flight import in_flight_gb, wanted_cache_gb

CACHE: Final = "cache"
IN_FLIGHT: Final = "in flight"
_OF_CACHE = (
    "More than in proportion to the data: what requests have in flight has to fit, and a server does not run with "
    "less than a least cache."
)
_OF_IN_FLIGHT = (
    "The share of the cache that the documents fill which all connections write at once. From 5 % dirty on, a server "
    "evicts while it is written to."
)


def parameter_documents(experiment: Experiment) -> list[dict[str, Any]]:
    """Return a document for each parameter of an experiment, for its cache, and for what it has in flight."""
    names = {name for config in configs(experiment) for name in config} - LABELS - {"workload"}
    scaled = {name.partition(".")[0] for name in experiment.scaled}
    caches = [wanted_cache_gb(experiment.reference, variant, 1.0) for variant in experiment.variants]
    shares = [
        in_flight_gb(config) / cache_gb for config, cache_gb in zip(configs(experiment), caches, strict=True)
    ]
    definitions = schemas.load("experiment")["definitions"]
    words = {name: one.get("scaling" if name in scaled else "kept") for name, one in definitions.items()}
    known = {**words, CACHE: _OF_CACHE, IN_FLIGHT: _OF_IN_FLIGHT, **experiment.changes}
    more = {CACHE: {"full": max(caches)}, **({IN_FLIGHT: {"full": max(shares)}} if any(shares) else {})}
    return [
        {
            "_id": {"parameter": name, "testname": experiment.name},
            "testname": experiment.name,
            "parameter": name,
            "scaled": name in scaled,
            **more.get(name, {}),
            **({"changes": known[name]} if known.get(name) else {}),
        }
        for name in sorted(names | more.keys())
    ]
