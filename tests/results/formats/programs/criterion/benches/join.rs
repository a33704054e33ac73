use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
use std::{hint::black_box, time::Duration};

fn join(c: &mut Criterion) {
    let mut group = c.benchmark_group("join");
    for n in [10usize, 100] {
        let words = vec!["word"; n];
        group.throughput(Throughput::Bytes(4 * n as u64));
        group.bench_with_input(BenchmarkId::new("plus", n), &words, |b, w| b.iter(|| words::plus(black_box(w))));
        group.bench_with_input(BenchmarkId::new("concat", n), &words, |b, w| b.iter(|| black_box(w).concat()));
    }
    group.finish();
    c.bench_function("alone", |b| b.iter(|| black_box(1) + black_box(2)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(100));
    targets = join
}
criterion_main!(benches);
