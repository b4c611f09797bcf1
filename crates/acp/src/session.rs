//! One session of an editor: a thread, what the user chose for it, and its running turn.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use quipu_client::Client;
use quipu_client::wire::{
    AskForApproval, ReasoningEffort, SandboxPolicy, ThreadItem, ThreadResumeResponse,
    ThreadStartResponse, ThreadTokenUsage,
};
use tokio::sync::{Notify, watch};

use crate::editor::Editor;
use crate::schema::{ConfigOption, SessionModes, Update};
use crate::settings::Settings;
use crate::startup::Startup;

/// A thread as the server opened it.
pub struct Started {
    pub thread_id: String,
    pub last_turn: Option<String>,
    pub model: String,
    pub effort: Option<ReasoningEffort>,
    pub approval_policy: AskForApproval,
    pub sandbox: SandboxPolicy,
}

/// Both answers have the same members.
macro_rules! started_from {
    ($answer:ty) => {
        impl From<&$answer> for Started {
            fn from(answer: &$answer) -> Started {
                Started {
                    thread_id: answer.thread.id.clone(),
                    last_turn: answer.thread.turns.last().map(|it| it.id.clone()),
                    model: answer.model.clone(),
                    effort: answer.reasoning_effort,
                    approval_policy: answer.approval_policy.clone(),
                    sandbox: answer.sandbox.clone(),
                }
            }
        }
    };
}
started_from!(ThreadStartResponse);
started_from!(ThreadResumeResponse);

/// Whether a prompt was cancelled since it came.
pub struct Cancellation(watch::Receiver<u64>);

impl Cancellation {
    /// Waits until the prompt is cancelled.
    pub async fn wait(&mut self) {
        // The session is gone only if its prompts are too.
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        // It stays cancelled.
        self.0.mark_changed();
    }
}

pub struct Session {
    pub thread_id: String,
    settings: Mutex<Settings>,
    /// Whether the server has the thread loaded, as far as is known.
    is_loaded: AtomicBool,
    /// One prompt at a time.
    pub prompting: tokio::sync::Mutex<()>,
    /// The last turn that the editor knows.
    pub last_turn: Mutex<Option<String>>,
    /// Items of the running turn that have begun; questions about others wait.
    items: Mutex<HashMap<String, ThreadItem>>,
    begun: Notify,
    /// Counts cancellations.
    cancels: watch::Sender<u64>,
    pub usage: Mutex<Option<ThreadTokenUsage>>,
    /// Tools of the editor that the user allowed for the whole session.
    allowed: Mutex<HashSet<String>>,
    /// MCP servers of the editor that are starting, until the editor knows the session.
    pub startup: Mutex<Option<Startup>>,
}

impl Session {
    pub async fn new(client: &Client, started: Started) -> Session {
        Session {
            thread_id: started.thread_id.clone(),
            last_turn: Mutex::new(started.last_turn.clone()),
            settings: Mutex::new(Settings::new(client, started).await),
            is_loaded: AtomicBool::new(true),
            prompting: tokio::sync::Mutex::default(),
            items: Mutex::default(),
            begun: Notify::new(),
            cancels: watch::Sender::new(0),
            usage: Mutex::default(),
            allowed: Mutex::default(),
            startup: Mutex::default(),
        }
    }

    pub fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock()
    }

    /// What the editor can offer to choose.
    pub fn offers(&self) -> (SessionModes, Vec<ConfigOption>) {
        let settings = self.settings();
        (settings.modes(), settings.options())
    }

    /// Tells the editor what is in force after a change of the mode.
    pub async fn show_settings(&self, editor: &Editor) {
        let (mode, options) = {
            let settings = self.settings();
            (settings.mode_id(), settings.options())
        };
        let mode = Update::CurrentModeUpdate {
            current_mode_id: mode,
        };
        let options = Update::ConfigOptionUpdate {
            config_options: options,
        };
        editor.update(&self.thread_id, mode).await;
        editor.update(&self.thread_id, options).await;
    }

    /// The connection that had the thread is gone.
    pub fn unload(&self) {
        self.is_loaded.store(false, Ordering::Relaxed);
    }

    pub fn loaded(&self) {
        self.is_loaded.store(true, Ordering::Relaxed);
    }

    pub fn is_loaded(&self) -> bool {
        self.is_loaded.load(Ordering::Relaxed)
    }

    /// Cancels all prompts that have come so far.
    pub fn cancel(&self) {
        self.cancels.send_modify(|count| *count += 1);
    }

    /// Notes what is cancelled from now on.
    pub fn cancellation(&self) -> Cancellation {
        Cancellation(self.cancels.subscribe())
    }

    /// Forgets the items of the last turn.
    pub fn begin(&self) {
        self.items.lock().clear();
    }

    pub fn allow(&self, tool: &str) {
        self.allowed.lock().insert(tool.to_owned());
    }

    pub fn is_allowed(&self, tool: &str) -> bool {
        self.allowed.lock().contains(tool)
    }

    pub fn item_begun(&self, id: &str, item: &ThreadItem) {
        self.items.lock().insert(id.to_owned(), item.clone());
        self.begun.notify_waiters();
    }

    /// An item of the running turn, once the editor knows it.
    pub async fn item(&self, id: &str) -> ThreadItem {
        loop {
            let begun = self.begun.notified();
            tokio::pin!(begun);
            // Registered before looking, so that what begins in between is not missed.
            begun.as_mut().enable();
            if let Some(item) = self.items.lock().get(id) {
                return item.clone();
            }
            begun.await;
        }
    }
}
