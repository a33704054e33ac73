#![feature(test)]
extern crate test;
use test::{black_box, Bencher};

mod words {
    use super::*;
    #[bench]
    fn join(b: &mut Bencher) {
        let words = vec!["word"; 100];
        b.bytes = 400;
        b.iter(|| black_box(&words).join(" "));
    }
    #[bench]
    fn plus(b: &mut Bencher) {
        let words = vec!["word"; 100];
        b.iter(|| black_box(&words).iter().fold(String::new(), |all, one| all + " " + one));
    }
}
#[bench]
fn nothing(b: &mut Bencher) {
    b.iter(|| black_box(1));
}
