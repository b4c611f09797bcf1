//! Processes that outlive the call that started them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use quipu_engine::{ProcessId, ToolEvent};
use quipu_policy::narrowing::is_narrower;
use quipu_sandbox::{Chunk, Output, Process};
use quipu_wire::{AskForApproval, SandboxPolicy};
use tokio::sync::watch;

use crate::call;
use crate::process::{self, Deltas, Shown};
use crate::scope::Scope;
use crate::text::HeadTail;

/// The most output that is kept between two looks.
const MAX_OUTPUT: usize = 1024 * 1024;
/// Processes that may run at once; one more ends the one used longest ago.
pub(super) const MAX_SESSIONS: usize = 64;
/// When so many run the model is told that there is a limit.
pub(super) const MANY_SESSIONS: usize = 60;
/// The latest of them are never ended to make room.
const SPARED: usize = 8;

/// A running process and what it wrote since it was last asked.
pub(crate) struct Session {
    pub id: ProcessId,
    pub shown: Shown,
    pub process: Process,
    /// What held for the turn that started it.
    sandbox: SandboxPolicy,
    approval_policy: AskForApproval,
    unread: Mutex<HeadTail>,
    exit: watch::Sender<Option<i32>>,
    begun: Instant,
    used: Mutex<Instant>,
}

impl Session {
    pub fn new(id: ProcessId, shown: Shown, process: Process, scope: &Scope) -> Session {
        let now = Instant::now();
        Session {
            id,
            shown,
            process,
            sandbox: scope.sandbox.clone(),
            approval_policy: scope.approval_policy.clone(),
            unread: Mutex::new(HeadTail::new(MAX_OUTPUT)),
            exit: watch::Sender::new(None),
            begun: now,
            used: Mutex::new(now),
        }
    }

    /// Waits until the process and its item have ended.
    pub async fn ended(&self) {
        // The sender is `self`, so waiting cannot fail.
        self.exit.subscribe().wait_for(Option::is_some).await.ok();
    }

    pub fn exit_code(&self) -> Option<i32> {
        *self.exit.borrow()
    }

    /// What was written since the last time.
    pub fn take_output(&self) -> String {
        *self.used.lock() = Instant::now();
        self.unread.lock().take()
    }
}

/// Follows a process to its end: output to clients, to the next look, and into its item.
pub(crate) async fn pump(
    run: call::Running,
    session: Arc<Session>,
    written: Vec<Chunk>,
    mut output: Output,
) {
    let mut deltas = Deltas::new(run.clone());
    let mut all = HeadTail::new(MAX_OUTPUT);
    let mut written = written.into_iter();
    loop {
        let chunk = match written.next() {
            Some(chunk) => chunk,
            None => match output.next().await {
                Some(chunk) => chunk,
                None => break,
            },
        };
        all.push(&chunk.bytes);
        session.unread.lock().push(&chunk.bytes);
        deltas.push(&chunk.bytes).await;
    }
    deltas.finish().await;
    let code = process::code(session.process.wait().await);
    let item = session
        .shown
        .ended(code, all.text(), session.begun.elapsed());
    run.host
        .report(&session.shown.id, ToolEvent::ItemCompleted(item))
        .await;
    session.exit.send_replace(Some(code));
}

/// The processes of a thread, by the number the model knows them by.
#[derive(Default)]
pub(crate) struct Sessions(BTreeMap<ProcessId, Arc<Session>>);

impl Sessions {
    /// A number that no running process has.
    pub fn free_id(&self) -> ProcessId {
        loop {
            let id = ProcessId::new(1000 + uuid::Uuid::new_v4().as_fields().0 % 99_000);
            if !self.0.contains_key(&id) {
                return id;
            }
        }
    }

    /// Adds a process and says how many there are.
    pub fn insert(&mut self, session: Arc<Session>) -> usize {
        if self.0.len() >= MAX_SESSIONS {
            let mut by_use: Vec<_> = self.0.values().cloned().collect();
            by_use.sort_by_key(|it| *it.used.lock());
            by_use.truncate(MAX_SESSIONS - SPARED);
            if let Some(oldest) = by_use.iter().min_by_key(|it| it.exit_code().is_none()) {
                oldest.process.kill();
                self.0.remove(&oldest.id);
            }
        }
        self.0.insert(session.id, session);
        self.0.len()
    }

    pub fn get(&self, id: ProcessId) -> Option<Arc<Session>> {
        self.0.get(&id).cloned()
    }

    pub fn remove(&mut self, id: ProcessId) {
        self.0.remove(&id);
    }

    pub fn any_alive(&self) -> bool {
        let mut sessions = self.0.values();
        sessions.any(|session| session.exit_code().is_none())
    }

    /// The processes that run, in the order of their numbers.
    pub fn alive(&self) -> impl Iterator<Item = &Session> {
        let sessions = self.0.values().map(|session| &**session);
        sessions.filter(|session| session.exit_code().is_none())
    }

    /// Ends one process; `false` if there is none with this number.
    pub fn kill(&mut self, id: &str) -> bool {
        let found = self.alive().find(|session| session.id.to_string() == id);
        let Some(id) = found.map(|session| session.id) else {
            return false;
        };
        if let Some(session) = self.0.remove(&id) {
            session.process.kill();
        }
        true
    }

    /// Ends the processes that were started with more rights than these.
    pub fn kill_wider(&mut self, sandbox: &SandboxPolicy, approval_policy: &AskForApproval) {
        self.0.retain(|_, session| {
            let before = (&session.sandbox, &session.approval_policy);
            let wider = is_narrower((sandbox, approval_policy), before);
            if wider {
                session.process.kill();
            }
            !wider
        });
    }

    /// Ends all processes; their items complete as they go.
    pub fn kill_all(&mut self) {
        for session in std::mem::take(&mut self.0).into_values() {
            session.process.kill();
        }
    }
}

/// The processes end with the thread. One that a call is just starting is ended by that call, which finds no thread.
impl Drop for Sessions {
    fn drop(&mut self) {
        self.kill_all();
    }
}
