//! Starlark, the language that rules files are written in, as far as one file can use it.
//!
//! A file is run once and acts by calling functions of its [`Host`]. It may come with a project that
//! nobody has read, so every run has limits: steps, nesting and the size of what it makes. What it
//! makes lives in one heap that is dropped as a whole.

mod arguments;
mod builtins;
mod compare;
mod dict;
mod eval;
mod format;
mod heap;
mod index;
mod lexer;
mod methods;
mod numbers;
mod operators;
mod parser;
mod scope;
mod show;
mod syntax;
mod text;
mod types;
mod value;

pub use arguments::{Arguments, Given};
pub use builtins::Builtin;
pub use eval::{Host, run};
pub use heap::Heap;
pub use lexer::Fault;
pub use lexer::Position;
pub use value::Value;
