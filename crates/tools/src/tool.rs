//! What a tool of the model is. Everything about one stands in its file; the [table](crate::table) lists them.

use std::time::Duration;

use futures_util::future::BoxFuture;
use quipu_engine::CallKind;

use crate::call::{Finished, Running};
use crate::scope::Scope;
use crate::spec::{Spec, SpecKind};

/// A tool that a model can call by a fixed name.
pub(crate) trait Tool: Sync {
    /// The name that the model calls it by.
    fn name(&self) -> &'static str;

    /// Beside which other calls it may run.
    fn parallel(&self) -> Parallel {
        Parallel::Never
    }

    /// What it acts on.
    fn reach(&self) -> Reach {
        Reach::Thread
    }

    /// What the model reads about it; `None` if these settings do not offer it.
    fn spec(&self, scope: &Scope) -> Option<Spec>;

    /// Whether it runs this call, which has its name. By default it must be offered, and called with JSON arguments.
    fn accepts(&self, run: &Running) -> bool {
        let takes_json = |spec: Spec| matches!(spec.kind, SpecKind::Function(_));
        run.is_function() && self.spec(&run.scope).is_some_and(takes_json)
    }

    /// Runs a call to its end. What goes wrong is output for the model.
    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished>;

    /// How the model reads the result of a command or a patch.
    fn report_style(&self, scope: &Scope) -> ReportStyle {
        // Models that are not offered patches as free text expect JSON.
        match scope.patch_as_text {
            Some(true) => ReportStyle::Text,
            Some(false) | None => ReportStyle::Json,
        }
    }

    /// What the model reads of a call that the user interrupted after so long.
    fn aborted(&self, after: Duration) -> String {
        aborted(after)
    }
}

/// Beside which other calls of the thread a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parallel {
    /// It runs alone.
    Never,
    /// Beside others that say the same.
    Shared,
    /// At any time: it waits for something that another call may have to bring about.
    Always,
}

/// What a tool acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The conversation, its user and other agents.
    Thread,
    /// Files and processes, for which the thread needs an environment.
    Machine,
    /// The same, by a command. The user's hooks run before and after it.
    Command,
}

/// How the model reads the result of a command or a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportStyle {
    Json,
    /// Says how many lines there were if the output was shortened.
    Text,
    /// Says so only if whole lines are missing.
    Script,
}

/// What the model reads of an interrupted call.
pub(crate) fn aborted(after: Duration) -> String {
    format!("aborted by user after {:.1}s", after.as_secs_f64())
}

impl Running {
    /// Whether the call has JSON arguments.
    pub fn is_function(&self) -> bool {
        matches!(self.call.kind, CallKind::Function(_))
    }

    /// The outcome of a call that no tool runs.
    pub fn unsupported(&self) -> Finished {
        let name = &self.call.name;
        match self.call.kind {
            CallKind::Custom(_) => format!("unsupported custom tool call: {name}").into(),
            _ => format!("unsupported call: {name}").into(),
        }
    }
}
