import pytest


def plus(words):
    joined = ""
    for word in words:
        joined += word
    return joined


@pytest.mark.parametrize("n", [10, 100])
def test_plus(benchmark, n):
    benchmark.extra_info["letters"] = 4 * n
    assert benchmark.pedantic(plus, args=(["word"] * n,), rounds=5, iterations=20, warmup_rounds=1)


@pytest.mark.benchmark(group="join")
def test_join(benchmark):
    assert benchmark.pedantic("".join, args=(["word"] * 10,), rounds=5, iterations=20, warmup_rounds=1)
