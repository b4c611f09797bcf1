//! One session of an editor: a thread, what the user chose for it, and its running turn.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use agent_client_protocol::Result;
use agent_client_protocol::v1::schema::{
    ConfigOptionUpdate, CurrentModeUpdate, SessionConfigOption, SessionModeState, SessionUpdate,
};
use quipu_client::Client;
use quipu_client::wire::{
    AskForApproval, ReasoningEffort, SandboxPolicy, ThreadItem, ThreadResumeParams,
    ThreadResumeResponse, ThreadStartResponse, ThreadTokenUsage,
};
use tokio::sync::Notify;

use crate::agent::{Editor, locked, refused};
use crate::settings::Settings;
use crate::turn;

/// A thread as the server opened it.
pub struct Opened {
    pub thread_id: String,
    pub model: String,
    pub effort: Option<ReasoningEffort>,
    pub approval_policy: AskForApproval,
    pub sandbox: SandboxPolicy,
}

/// Both answers have the same members.
macro_rules! opened_from {
    ($answer:ty) => {
        impl From<&$answer> for Opened {
            fn from(answer: &$answer) -> Opened {
                Opened {
                    thread_id: answer.thread.id.clone(),
                    model: answer.model.clone(),
                    effort: answer.reasoning_effort,
                    approval_policy: answer.approval_policy.clone(),
                    sandbox: answer.sandbox.clone(),
                }
            }
        }
    };
}
opened_from!(ThreadStartResponse);
opened_from!(ThreadResumeResponse);

pub struct Session {
    pub thread_id: String,
    settings: Mutex<Settings>,
    /// Whether the server has the thread loaded, as far as is known.
    is_loaded: AtomicBool,
    /// One prompt at a time.
    pub prompting: tokio::sync::Mutex<()>,
    /// Items of the running turn that have begun; questions about others wait.
    items: Mutex<HashMap<String, ThreadItem>>,
    begun: Notify,
    cancelled: Notify,
    is_cancelled: AtomicBool,
    pub usage: Mutex<Option<ThreadTokenUsage>>,
    /// Tools of the editor that the user allowed for the whole session.
    allowed: Mutex<HashSet<String>>,
}

impl Session {
    pub async fn new(client: &Client, opened: Opened) -> Session {
        let thread_id = opened.thread_id.clone();
        Session {
            thread_id,
            settings: Mutex::new(Settings::new(client, opened).await),
            is_loaded: AtomicBool::new(true),
            prompting: tokio::sync::Mutex::default(),
            items: Mutex::default(),
            begun: Notify::new(),
            cancelled: Notify::new(),
            is_cancelled: AtomicBool::new(false),
            usage: Mutex::default(),
            allowed: Mutex::default(),
        }
    }

    pub fn settings(&self) -> MutexGuard<'_, Settings> {
        locked(&self.settings)
    }

    /// What the editor can offer to choose.
    pub fn offers(&self) -> (SessionModeState, Vec<SessionConfigOption>) {
        let settings = self.settings();
        (settings.modes(), settings.options())
    }

    /// Tells the editor what is in force after a change of the mode.
    pub fn show_settings(&self, editor: &Editor) {
        let (mode, options) = {
            let settings = self.settings();
            (settings.mode_id(), settings.options())
        };
        let mode = SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode));
        let options = SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options));
        turn::send(editor, &self.thread_id, mode);
        turn::send(editor, &self.thread_id, options);
    }

    /// The connection that had the thread is gone.
    pub fn unload(&self) {
        self.is_loaded.store(false, Ordering::Relaxed);
    }

    /// Loads the thread again if its connection was lost.
    pub async fn load(&self, client: &Client) -> Result<()> {
        if !self.is_loaded.load(Ordering::Relaxed) {
            let params = ThreadResumeParams::default();
            client
                .resume_thread(&self.thread_id, params)
                .await
                .map_err(refused)?;
            self.is_loaded.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.cancelled.notify_waiters();
    }

    /// Forgets the last turn.
    pub fn begin(&self) {
        self.is_cancelled.store(false, Ordering::Relaxed);
        locked(&self.items).clear();
    }

    /// Waits until the running prompt is cancelled.
    pub async fn cancellation(&self) {
        loop {
            let cancelled = self.cancelled.notified();
            if self.is_cancelled.load(Ordering::Relaxed) {
                return;
            }
            cancelled.await;
        }
    }

    pub fn allow(&self, tool: &str) {
        locked(&self.allowed).insert(tool.to_owned());
    }

    pub fn is_allowed(&self, tool: &str) -> bool {
        locked(&self.allowed).contains(tool)
    }

    pub fn item_begun(&self, id: &str, item: &ThreadItem) {
        locked(&self.items).insert(id.to_owned(), item.clone());
        self.begun.notify_waiters();
    }

    /// An item of the running turn, once the editor was told of it.
    pub async fn item(&self, id: &str) -> ThreadItem {
        loop {
            let begun = self.begun.notified();
            if let Some(item) = locked(&self.items).get(id) {
                return item.clone();
            }
            begun.await;
        }
    }
}
