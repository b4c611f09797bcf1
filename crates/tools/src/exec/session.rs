//! Processes that outlive the call that started them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quipu_engine::ToolEvent;
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
    pub id: u32,
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
    pub fn new(id: u32, shown: Shown, process: Process, scope: &Scope) -> Session {
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
        *lock(&self.used) = Instant::now();
        lock(&self.unread).take()
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
        lock(&session.unread).push(&chunk.bytes);
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
pub(crate) struct Sessions(Mutex<Running>);

#[derive(Default)]
struct Running {
    sessions: BTreeMap<u32, Arc<Session>>,
    /// The thread is gone: a process that was just being started must not outlive it.
    closed: bool,
}

impl Sessions {
    /// A number that no running process has.
    pub fn free_id(&self) -> u32 {
        let running = lock(&self.0);
        loop {
            let id = 1000 + uuid::Uuid::new_v4().as_fields().0 % 99_000;
            if !running.sessions.contains_key(&id) {
                return id;
            }
        }
    }

    /// Adds a process and tells how many there are.
    pub fn insert(&self, session: Arc<Session>) -> usize {
        let mut running = lock(&self.0);
        let Running { sessions, closed } = &mut *running;
        if *closed {
            session.process.kill();
            return sessions.len();
        }
        if sessions.len() >= MAX_SESSIONS {
            let mut by_use: Vec<_> = sessions.values().cloned().collect();
            by_use.sort_by_key(|it| *lock(&it.used));
            by_use.truncate(MAX_SESSIONS - SPARED);
            if let Some(oldest) = by_use.iter().min_by_key(|it| it.exit_code().is_none()) {
                oldest.process.kill();
                sessions.remove(&oldest.id);
            }
        }
        sessions.insert(session.id, session);
        sessions.len()
    }

    pub fn get(&self, id: u32) -> Option<Arc<Session>> {
        lock(&self.0).sessions.get(&id).cloned()
    }

    pub fn remove(&self, id: u32) {
        lock(&self.0).sessions.remove(&id);
    }

    pub fn any_alive(&self) -> bool {
        let running = lock(&self.0);
        let mut sessions = running.sessions.values();
        sessions.any(|session| session.exit_code().is_none())
    }

    /// Ends the processes that were started with more rights than these.
    pub fn kill_wider(&self, sandbox: &SandboxPolicy, approval_policy: &AskForApproval) {
        lock(&self.0).sessions.retain(|_, session| {
            let before = (&session.sandbox, &session.approval_policy);
            let wider = is_narrower((sandbox, approval_policy), before);
            if wider {
                session.process.kill();
            }
            !wider
        });
    }

    /// Ends all processes; their items complete as they go.
    pub fn kill_all(&self) {
        for session in std::mem::take(&mut lock(&self.0).sessions).into_values() {
            session.process.kill();
        }
    }

    /// Ends all processes, and those that are just being started.
    pub fn close(&self) {
        lock(&self.0).closed = true;
        self.kill_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
