//! The committed fuzz corpus, run without a fuzzer.

#[path = "../../../../fuzz/src/frames.rs"]
mod frames;

#[test]
fn every_input_of_the_corpus_holds() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/frames");
    let mut inputs = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        frames::check(&std::fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 5, "the corpus is missing");
}
