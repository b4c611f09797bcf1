//! The tools of one evaluation as a server's questions reach them: one call after the other, each a
//! transaction, each reported once. It knows no server, so other adapters can use it.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{OwnedMutexGuard, watch};
use tokio::time::timeout;

use crate::error::Expansion;
use crate::events::{Emitter, EventKind, ToolInvoked, ToolOwner};
use crate::limits::{Ended, Limits};
use crate::recording::Step;
use crate::resources::Saved;
use crate::tool::Kind;
use crate::{Error, Resources, Result, Session, Tool, ToolContext, ToolOutput};

/// How long calls may take to be undone after the evaluation is over.
const UNDONE: Duration = Duration::from_secs(10);

/// What the model reads of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub output: ToolOutput,
    pub success: bool,
}

impl Answer {
    fn failure(text: impl Into<String>) -> Answer {
        Answer {
            output: ToolOutput::from(text.into()),
            success: false,
        }
    }
}

/// The tools of an evaluation with all that their calls work on.
pub(crate) struct Toolbox {
    tools: HashMap<String, Tool>,
    session: Session,
    resources: Resources,
    limits: Arc<Limits>,
    emitter: Emitter,
    /// How many calls are not over.
    running: watch::Sender<usize>,
    /// What was done so far, for the recording.
    steps: Mutex<Vec<Step>>,
    expansion: Mutex<Option<Expansion>>,
}

impl Toolbox {
    /// Checks that every tool can be told from the others.
    pub fn new(
        tools: &[Tool],
        session: &Session,
        resources: &Resources,
        limits: &Arc<Limits>,
        emitter: &Emitter,
    ) -> Result<Toolbox> {
        let mut by_name = HashMap::new();
        for tool in tools {
            let name = tool.name();
            let refused = match name {
                "" => Some("is empty"),
                "mcp" => Some("is that of the tools of MCP servers"),
                _ if name.starts_with("mcp__") => Some("is that of a tool of an MCP server"),
                _ if by_name.insert(name.to_owned(), tool.clone()).is_some() => {
                    Some("is taken by another tool")
                }
                _ => None,
            };
            if let Some(why) = refused {
                return Err(Error::request(format!(
                    "the tool name `{name}` {why}; name it differently"
                )));
            }
        }
        Ok(Toolbox {
            tools: by_name,
            session: session.clone(),
            resources: resources.clone(),
            limits: Arc::clone(limits),
            emitter: emitter.clone(),
            running: watch::Sender::new(0),
            steps: Mutex::default(),
            expansion: Mutex::default(),
        })
    }

    /// Runs a call. Whatever becomes of it, also if the returned future is dropped, it is reported once,
    /// and a call that did not succeed has changed nothing.
    pub async fn call(&self, name: &str, call_id: &str, arguments: &Value) -> Answer {
        self.running.send_modify(|calls| *calls += 1);
        let mut report = Report {
            toolbox: self,
            tool: name,
            call_id,
            arguments,
            since: Instant::now(),
            answer: Answer::failure("The call was given up."),
        };
        let answer = match self.tools.get(name) {
            Some(tool) => self.transaction(tool, call_id, arguments).await,
            None => Answer::failure(format!("There is no tool named `{name}`.")),
        };
        report.answer = answer.clone();
        answer
    }

    async fn transaction(&self, tool: &Tool, call_id: &str, arguments: &Value) -> Answer {
        let ended = |ended: Ended| Answer::failure(ended.for_model());
        let turn = tokio::select! {
            biased;
            reason = self.limits.ending() => return ended(reason),
            turn = self.resources.turn() => turn,
        };
        let saved = match self.resources.save() {
            Ok(saved) => saved,
            Err(error) => return self.break_off(error),
        };
        let transaction = Transaction {
            limits: &self.limits,
            saved: Some(saved),
            _turn: turn,
        };
        let copy = self.session.working_copy();
        let context = ToolContext {
            session: copy.clone(),
            resources: self.resources.clone(),
            deadline: self.limits.deadline,
            budget: self.limits.budget.clone(),
            call_id: call_id.to_owned(),
        };
        // The function itself may panic before it returns its future.
        let running = AssertUnwindSafe(async {
            Ok::<_, serde_json::Error>(tool.begin(arguments, context)?.await)
        });
        let done = tokio::select! {
            biased;
            reason = self.limits.ending() => return ended(reason),
            done = running.catch_unwind() => done,
        };
        match done {
            Ok(Ok(Ok(output))) => {
                let commit = AssertUnwindSafe(|| self.session.commit(&copy));
                if let Err(panic) = catch_unwind(commit) {
                    return panicked(tool, &*panic);
                }
                transaction.commit();
                Answer {
                    output,
                    success: true,
                }
            }
            Ok(Ok(Err(error))) => self.failed(error.0),
            Ok(Err(unreadable)) => Answer::failure(format!(
                "The arguments of `{}` are not valid: {unreadable}",
                tool.name()
            )),
            Err(panic) => panicked(tool, &*panic),
        }
    }

    /// Waits until no call runs any more, so that the caller sees all of a call or nothing. A tool that
    /// blocks its thread is not waited for.
    pub async fn settled(&self) {
        let mut running = self.running.subscribe();
        if timeout(UNDONE, running.wait_for(|calls| *calls == 0))
            .await
            .is_err()
        {
            tracing::warn!("a tool still runs after its evaluation; it blocks its thread");
        }
    }

    fn failed(&self, error: Kind) -> Answer {
        match error {
            Kind::Failed(message) => Answer::failure(message),
            Kind::Expand(expansion) => {
                let sections = expansion.sections.join("`, `");
                let text = format!(
                    "The sections `{sections}` will be shown in full when the work starts over. End your turn now."
                );
                let mut kept = self.expansion.lock();
                kept.get_or_insert(expansion);
                Answer {
                    output: ToolOutput::from(text),
                    success: true,
                }
            }
        }
    }

    /// Ends the evaluation, since nobody knows in which state its resources are.
    fn break_off(&self, error: String) -> Answer {
        self.limits.end(Ended::Tool(error.clone()));
        Answer::failure(error)
    }

    /// Reports the use of a tool that is not in this box.
    pub fn report(&self, invoked: ToolInvoked) {
        self.keep(Step::Native(invoked.clone()));
        self.emitter.emit(EventKind::ToolInvoked(invoked));
    }

    fn keep(&self, step: Step) {
        self.steps.lock().push(step);
    }

    /// Puts the steps into the server's order of calls: calls of the prompt's tools arrive beside the
    /// notifications, so the two can overtake each other here.
    pub fn sort_steps<'a>(&self, call_ids: impl Iterator<Item = &'a str>) {
        let order: HashMap<&str, usize> = call_ids.zip(0..).collect();
        let position = |step: &Step| order.get(step.call_id()).copied();
        let mut steps = self.steps.lock();
        if steps.iter().all(|step| position(step).is_some()) {
            steps.sort_by_key(position);
        }
    }

    /// What was done, in order.
    pub fn take_steps(&self) -> Vec<Step> {
        std::mem::take(&mut *self.steps.lock())
    }

    /// The sections that a call asked for.
    pub fn take_expansion(&self) -> Option<Expansion> {
        self.expansion.lock().take()
    }
}

/// A call that may still have to be undone; unless committed, dropping it does.
struct Transaction<'a> {
    limits: &'a Limits,
    saved: Option<Saved>,
    /// Released after the resources are restored.
    _turn: OwnedMutexGuard<()>,
}

impl Transaction<'_> {
    fn commit(mut self) {
        self.saved = None;
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.saved.take().map(Saved::restore) {
            self.limits.end(Ended::Tool(error));
        }
    }
}

/// The one report of a call, made when it is over.
struct Report<'a> {
    toolbox: &'a Toolbox,
    tool: &'a str,
    call_id: &'a str,
    arguments: &'a Value,
    since: Instant,
    answer: Answer,
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        let Answer { output, success } = &self.answer;
        let invoked = ToolInvoked {
            tool: self.tool.to_owned(),
            owner: ToolOwner::Prompt,
            call_id: self.call_id.to_owned(),
            arguments: self.arguments.clone(),
            result: output.texts(),
            success: *success,
            duration: Some(Duration::from_millis(
                self.since.elapsed().as_millis() as u64
            )),
        };
        self.toolbox.keep(Step::Call(invoked.clone()));
        self.toolbox.emitter.emit(EventKind::ToolInvoked(invoked));
        self.toolbox.running.send_modify(|calls| *calls -= 1);
    }
}

fn panicked(tool: &Tool, panic: &(dyn std::any::Any + Send)) -> Answer {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or(panic.downcast_ref::<String>().map(String::as_str));
    let words = text.unwrap_or("it panicked");
    Answer::failure(format!("The tool `{}` failed: {words}", tool.name()))
}

#[cfg(test)]
mod tests;
