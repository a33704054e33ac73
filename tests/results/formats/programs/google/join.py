import google_benchmark as benchmark


@benchmark.register
@benchmark.option.arg(10)
@benchmark.option.arg(100)
@benchmark.option.arg_name("n")
def join(state):
    words = ["word"] * state.range(0)
    while state:
        "".join(words)
    state.counters["words"] = state.range(0)


@benchmark.register
def fails(state):
    state.skip_with_error("no such thing")
    while state:
        pass


if __name__ == "__main__":
    benchmark.main()
