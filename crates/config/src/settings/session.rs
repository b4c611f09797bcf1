//! What is read before a turn, shown during it and kept after it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::env::Env;
use crate::project;
use crate::snapshot::Snapshot;

/// `AGENTS.md` files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectDocs {
    /// How much of them reaches the model; 0 for none.
    pub max_bytes: usize,
    /// Files read where there is no `AGENTS.md`.
    pub fallback_filenames: Vec<String>,
    /// Files that mark the root of a project.
    pub root_markers: Vec<String>,
}

/// What clients see, and which program is notified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Thoughts of the model are not sent to clients.
    pub hide_agent_reasoning: bool,
    /// Thoughts are sent in full where the provider gives them.
    pub show_raw_agent_reasoning: bool,
    /// Program started after each turn.
    pub notify: Option<Vec<String>>,
    /// The version of the official server that clients see.
    pub announced_version: Option<String>,
    /// How long questions to the user wait while nobody follows their thread.
    pub question_timeout: Duration,
    /// A final message that breaks the output schema of its turn fails it, even if it is JSON.
    pub strict_output_schema: bool,
}

/// Where things are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// Directory of the database files.
    pub sqlite_home: PathBuf,
    /// Directory of the log file, if there is to be one.
    pub log_dir: Option<PathBuf>,
    /// The database of the threads, if they are not in the home.
    pub store: Option<StoreAddress>,
    /// What becomes of turns whose server ended.
    pub left_turns: LeftTurns,
}

/// What becomes of turns that were running when their server ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftTurns {
    /// They go on; otherwise they count as interrupted.
    pub go_on: bool,
    /// The program that makes the working directory ready before; empty if there is none.
    pub workspace_hook: Vec<String>,
    /// How long it may take.
    pub workspace_hook_timeout: Duration,
}

/// The address of a database. It may contain a password, so it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreAddress {
    /// The address.
    pub url: String,
    /// The password, if the address has none.
    pub password: Option<String>,
    /// How long after its last sign of life the threads of a server may be taken over.
    pub lease_seconds: u64,
    /// Where other servers reach this one.
    pub node_address: Option<String>,
    /// What servers present to each other.
    pub node_secret: Option<String>,
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreAddress")
    }
}

impl Snapshot {
    /// `AGENTS.md` files.
    pub fn project_docs(&self) -> ProjectDocs {
        let view = self.view();
        ProjectDocs {
            max_bytes: view.get("project_doc_max_bytes").unwrap_or(32 * 1024),
            fallback_filenames: view.table("project_doc_fallback_filenames"),
            root_markers: project::root_markers(self.merged()).unwrap_or_default(),
        }
    }

    /// What clients see, and which program is notified.
    pub fn session(&self) -> Session {
        let view = self.view();
        Session {
            hide_agent_reasoning: view.table("hide_agent_reasoning"),
            show_raw_agent_reasoning: view.table("show_raw_agent_reasoning"),
            announced_version: view.get("announced_version"),
            notify: view
                .get("notify")
                .filter(|command: &Vec<String>| !command.is_empty()),
            question_timeout: Duration::from_millis(
                view.get("question_timeout_ms").unwrap_or(30 * 60 * 1000),
            ),
            strict_output_schema: view.get("output_schema") == Some("strict".to_owned()),
        }
    }

    /// Where things are kept.
    pub fn storage(&self, env: &Env) -> Storage {
        let view = self.view();
        let home = self.home().path();
        let sqlite_home = view.get("sqlite_home");
        let from_env = || {
            env.get("CODEX_SQLITE_HOME")
                .map(|path| env.cwd().join(path))
        };
        Storage {
            sqlite_home: sqlite_home
                .or_else(from_env)
                .unwrap_or_else(|| home.to_owned()),
            log_dir: view.get("log_dir"),
            store: self.own_store("url").map(|url| StoreAddress {
                url,
                password: env.get("PGPASSWORD").map(str::to_owned),
                lease_seconds: self.lease_seconds(),
                node_address: self.own_store("node_address"),
                node_secret: self.own_store("node_secret"),
            }),
            left_turns: self.left_turns(),
        }
    }

    fn left_turns(&self) -> LeftTurns {
        let (key, usual) = match self.own_store("url") {
            Some(_) => ("on_takeover", "continue"),
            None => ("on_restart", "interrupt"),
        };
        let set = self.own_store(key);
        let hook = self.own_value("workspace_hook", |value| {
            let words = value.as_array()?.iter();
            words.map(|it| it.as_str().map(str::to_owned)).collect()
        });
        let timeout = self.own_value("workspace_hook_timeout_seconds", |it| it.as_u64());
        LeftTurns {
            go_on: set.as_deref().unwrap_or(usual) == "continue",
            workspace_hook: hook.unwrap_or_default(),
            workspace_hook_timeout: Duration::from_secs(timeout.unwrap_or(300).clamp(1, 3600)),
        }
    }

    /// A project must not have threads sent to its own address, nor programs run, so its files do not count.
    fn own_value<T>(&self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let own = self.stack().own();
        let set = own.filter_map(|it| read(it.config.get("store")?.get(key)?));
        set.last()
    }

    fn own_store(&self, key: &str) -> Option<String> {
        let text = self.own_value(key, |it| it.as_str().map(str::to_owned));
        text.filter(|text| !text.is_empty())
    }

    fn lease_seconds(&self) -> u64 {
        let set = self.own_value("lease_seconds", |it| it.as_u64());
        set.unwrap_or(10)
    }
}
