//! The patch language: parse, match, apply, diff.
