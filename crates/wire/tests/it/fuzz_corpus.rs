//! The committed fuzz corpus, run without a fuzzer.

#[path = "../../../../fuzz/src/params.rs"]
mod params;

#[test]
fn the_corpus_breaks_nothing() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/params");
    let mut seen = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        params::check(&std::fs::read(entry.unwrap().path()).unwrap());
        seen += 1;
    }
    assert!(seen > 0);
}
