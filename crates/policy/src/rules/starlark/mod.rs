//! Starlark, the language that rules files are written in, as far as a file can use it.
//!
//! A file is run once, while it is read, and declares its rules by calling functions. It comes from
//! a person but may come with a project, so every run has limits: steps, nesting and the size of
//! what it makes. What it makes lives in one heap that goes away as a whole.

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

pub(super) use arguments::{Arguments, Given};
pub(super) use builtins::Builtin;
pub(super) use eval::{Machine, run};
pub(super) use heap::Heap;
pub(super) use lexer::Fault;
pub use lexer::Position;
pub(super) use value::Value;
