//! The benchmarks behind the README's performance table.

fn main() {}
