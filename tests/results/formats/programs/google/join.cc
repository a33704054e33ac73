#include <benchmark/benchmark.h>
#include <string>

static void Join(benchmark::State& state) {
  for (auto _ : state) {
    std::string joined;
    for (int i = 0; i < state.range(0); ++i) joined += "word";
    benchmark::DoNotOptimize(joined);
  }
  state.SetBytesProcessed(int64_t(state.iterations()) * 4 * state.range(0));
  state.counters["words"] = state.range(0);
}
BENCHMARK(Join)->ArgName("n")->Arg(10)->Arg(100);

static void Fails(benchmark::State& state) {
  state.SkipWithError("no such thing");
  for (auto _ : state) {
  }
}
BENCHMARK(Fails);

static void Nothing(benchmark::State& state) {
  for (auto _ : state) {
  }
  state.counters["ratio"] = 0.0 / 0.0;
}
BENCHMARK(Nothing)->Unit(benchmark::kMicrosecond);
BENCHMARK_MAIN();
