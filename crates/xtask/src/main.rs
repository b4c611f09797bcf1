//! Checks and chores: tidy, code generation, ci.

fn main() {}
