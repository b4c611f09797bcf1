//! Runs a file: statements, expressions and calls, within fixed limits.

mod calls;
mod expressions;
mod statements;

use super::arguments::Arguments;
use super::builtins::{self, Builtin};
use super::heap::{Heap, ScopeId};
use super::lexer::{Fault, Located, Position};
use super::parser::parse;
use super::scope::{self, Names};

/// Calls inside of calls; the official program has the same limit.
const MAX_CALLS: usize = 49;

/// Evaluations inside of evaluations, whatever they are, so that the stack is never exhausted: each
/// takes up to 5 KiB of it in a build without optimisation.
const MAX_DEPTH: usize = 600;

/// The program that runs a file, and what the file can ask of it.
pub trait Host {
    /// The functions it adds to those of the language, each made by [`Builtin::of_host`].
    fn functions(&self) -> &'static [Builtin];

    /// Runs one of them. It returns `None` to the file.
    fn call(&mut self, function: &str, heap: &Heap, given: Arguments) -> Result<(), Fault>;
}

/// Runs the text of a file.
pub fn run(source: &str, host: &mut dyn Host) -> Result<(), Fault> {
    let program = parse(source)?;
    let mut globals = Names::new();
    scope::assigned(&program, &mut globals);
    let of_host = host.functions();
    scope::check(&program, globals.clone(), &|name| {
        builtins::lookup(name, of_host).is_some()
    })?;
    let start = Position { line: 1, column: 1 };
    let mut heap = Heap::default();
    let scope = heap.new_scope(None, &globals).at(start)?;
    let mut machine = Machine {
        heap,
        host,
        scope,
        calls: 0,
        depth: 0,
    };
    machine.block(&program)?;
    Ok(())
}

/// A run: what was made and where it is.
pub(crate) struct Machine<'h> {
    pub(crate) heap: Heap,
    host: &'h mut dyn Host,
    /// Of the function or comprehension that is running.
    scope: ScopeId,
    calls: usize,
    depth: usize,
}

impl Machine<'_> {
    pub(super) fn spend(&self, steps: usize, at: Position) -> Result<(), Fault> {
        self.heap.spend(steps).at(at)
    }

    fn deeper<T>(
        &mut self,
        at: Position,
        inner: impl FnOnce(&mut Machine) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(at, "the file computes in too many levels"));
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Runs `inner` with the variables of another scope.
    fn within<T>(
        &mut self,
        scope: ScopeId,
        inner: impl FnOnce(&mut Machine) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = inner(self);
        self.scope = outer;
        result
    }
}
