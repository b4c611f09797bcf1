//! The corpus of the fuzz target `sse`, run as a plain test so that it cannot rot.

use crate::any_answer;

#[test]
fn the_laws_hold_for_the_corpus_of_the_fuzzer() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/sse");
    let inputs: Vec<_> = std::fs::read_dir(corpus).unwrap().collect();
    assert!(!inputs.is_empty());
    for input in inputs {
        any_answer::check(&std::fs::read(input.unwrap().path()).unwrap());
    }
}
