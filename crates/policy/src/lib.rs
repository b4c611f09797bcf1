//! May this command run, ask, or not: parsing, known-safe list, rules, approval table.
