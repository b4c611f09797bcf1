//! Command line and terminal; the binary quipu.

fn main() {}
