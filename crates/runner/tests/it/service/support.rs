//! A service in a temporary directory, with agents written in shell.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_runner::config::{Config, ConfigError};
use quipu_runner::env::Env;
use quipu_runner::record::Places;
use quipu_runner::service::{Handle, OpenTracker, Query, Service, ServiceOptions, StartError};
use quipu_runner::tracker;
use quipu_runner::workflow::Workflow;
pub use quipu_testkit::client::within;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// An app-server in shell: it answers everything, and runs `work` in each turn.
const AGENT: &str = r#"
say() { printf '%s\n' "$1"; }
next=0
ok() { next=$((next + 1)); say '{"id":'"$next"',"result":'"$1"'}'; }
thread=thread-$$-$RANDOM
turn=0
tokens() { say '{"method":"thread/tokenUsage/updated","params":{"threadId":"'"$thread"'","turnId":"t","tokenUsage":{"total":{"inputTokens":'"$1"',"cachedInputTokens":0,"outputTokens":'"$2"',"reasoningOutputTokens":0,"totalTokens":'"$(($1 + $2))"'},"last":{"inputTokens":1,"cachedInputTokens":0,"outputTokens":1,"reasoningOutputTokens":0,"totalTokens":2},"modelContextWindow":null}}}'; }
finish() { say '{"method":"turn/completed","params":{"threadId":"'"$thread"'","turn":{"id":"turn-'"$turn"'","items":[],"status":"'"$1"'","error":'"${2:-null}"'}}}'; }
state() { sed -i "s/^state: .*/state: $1/" "$ISSUES/$(basename "$PWD").md"; }
while IFS= read -r line; do
  printf '%s\n' "$line" >> "$TRACES/$(basename "$PWD")"
  case $line in
    *'"method":"initialize"'*) ok '{"userAgent":"sh/0.118.0 (test)"}' ;;
    *'"method":"thread/resume"'*) [ -e ../../forgotten ] && { next=$((next + 1)); say '{"id":'"$next"',"error":{"code":-32600,"message":"no such thread"}}'; continue; }; thread=$(printf '%s' "$line" | sed 's/.*"threadId":"\([^"]*\)".*/\1/'); ok '{"thread":{"id":"'"$thread"'"}}' ;;
    *'"method":"thread/start"'*) ok '{"thread":{"id":"'"$thread"'"}}' ;;
    *'"method":"turn/start"'*) turn=$((turn + 1)); ok '{"turn":{"id":"turn-'"$turn"'"}}'; work ;;
    *'"method":"turn/interrupt"'*) ok '{}' ;;
  esac
done
"#;

/// The work of an agent that does what is asked of it at once.
pub const DONE: &str = "tokens 10 5; state Done; finish completed";
/// The work of one that never comes to an end.
pub const ENDLESS: &str = ":";

/// The surroundings of a workflow in a directory, with few variables.
pub fn env(directory: &Path) -> Env {
    Env {
        // A home of its own, so that login shells read nobody's profile.
        variables: BTreeMap::from([("HOME".to_owned(), "/home/me".to_owned())]),
        directory: directory.to_owned(),
        temporary: "/tmp".into(),
        default_command: "codex app-server".to_owned(),
    }
}

/// The settings that some front matter gives.
pub fn config(front: &str) -> Result<Config, ConfigError> {
    let workflow = Workflow::parse(&format!("---\n{front}\n---\nWork on it.")).unwrap();
    Config::new(&workflow, &env(Path::new("/srv/flow")))
}

/// A directory with a workflow and issues.
pub struct Lab {
    pub directory: TempDir,
    pub options: ServiceOptions,
}

impl Lab {
    /// With an agent that does this in each turn, and this in the front matter besides.
    pub fn new(work: &str, front: &str) -> Lab {
        let directory = TempDir::new().unwrap();
        let path = directory.path().canonicalize().unwrap();
        for name in ["issues", "traces", "home"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        let at = |name: &str| path.join(name).display().to_string();
        let script = format!(
            "ISSUES={} TRACES={}\nwork() {{ {work}\n}}\n{AGENT}",
            at("issues"),
            at("traces")
        );
        fs::write(path.join("agent.sh"), script).unwrap();
        let lab = Lab {
            options: ServiceOptions {
                workflow: path.join("WORKFLOW.md"),
                env: env(&path),
                places: Places {
                    root: path.join("home"),
                },
                port: None,
                open_tracker: Arc::new(tracker::open),
                tracker_patience: Duration::from_secs(20),
                set_log_level: None,
            },
            directory,
        };
        lab.write_workflow(front, "Do {{ issue.identifier }}: {{ issue.title }}");
        lab
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub fn write_workflow(&self, front: &str, prompt: &str) {
        let agent = self.path().join("agent.sh").display().to_string();
        let polling = match front.contains("polling:") {
            true => "",
            false => "polling: { interval_ms: 50 }\n",
        };
        let text = format!(
            "---\ncodex: {{ command: \"exec bash {agent}\", read_timeout_ms: 20000 }}\nworkspace: {{ root: workspaces }}\n\
             {polling}{front}\n---\n{prompt}\n"
        );
        // In one step, as editors do.
        let new = self.path().join("WORKFLOW.new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.path().join("WORKFLOW.md")).unwrap();
    }

    /// An issue to be done.
    pub fn issue(&self, name: &str) -> &Lab {
        self.write_issue(name, "state: Todo")
    }

    pub fn write_issue(&self, name: &str, front: &str) -> &Lab {
        let new = self.path().join("issue.new");
        fs::write(&new, format!("---\n{front}\n---\nDescription of {name}.\n")).unwrap();
        fs::rename(new, self.path().join(format!("issues/{name}.md"))).unwrap();
        self
    }

    pub fn set_state(&self, name: &str, state: &str) {
        self.write_issue(name, &format!("state: {state}"));
    }

    pub fn workspace(&self, name: &str) -> PathBuf {
        self.path().join("workspaces").join(name)
    }

    /// What the agents of an issue were sent.
    pub fn trace(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path().join("traces").join(name)).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The prompts that the agents of an issue were sent.
    pub fn prompts(&self, name: &str) -> Vec<String> {
        let trace = self.trace(name);
        let turns = trace.iter().filter(|it| it["method"] == "turn/start");
        let text = |it: &Value| {
            it["params"]["input"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        turns.map(text).collect()
    }

    pub fn with_tracker(mut self, open: OpenTracker) -> Lab {
        self.options.open_tracker = open;
        self
    }

    pub async fn try_start(&self) -> Result<Running, StartError> {
        let service = Service::start(self.options.clone()).await?;
        let handle = service.handle();
        let address = service.address();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(service.run(async {
            stopped.await.ok();
        }));
        Ok(Running {
            handle,
            address,
            stop,
            running,
        })
    }

    pub async fn start(&self) -> Running {
        within("the service", self.try_start()).await.unwrap()
    }

    /// What is stored of an issue.
    pub fn record(&self, name: &str) -> Value {
        let path = self.options.places.issue(name);
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }
}

/// Whether an issue waits for its retry after an error that holds a text.
pub fn failed_with(state: &Value, text: &str) -> bool {
    let mut rows = state["retrying"].as_array().unwrap().iter();
    rows.any(|it| it["error"].as_str().is_some_and(|it| it.contains(text)))
}

/// Whether an attempt came to its end, or was ended because its agent had moved the issue on already.
pub fn ended_well(attempt: &Value) -> bool {
    let status = attempt["status"].as_str().unwrap();
    ["succeeded", "canceled_by_reconciliation"].contains(&status)
}

/// A service that runs.
pub struct Running {
    pub handle: Handle,
    pub address: Option<std::net::SocketAddr>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Running {
    pub async fn state(&self) -> Value {
        self.handle.ask(Query::State).await.unwrap()
    }

    pub async fn details(&self, name: &str) -> Option<Value> {
        let name = name.to_owned();
        self.handle
            .ask(|answer| Query::Issue(name, answer))
            .await
            .unwrap()
    }

    /// Waits until the state is as wanted.
    pub async fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let looking = async {
            let mut looks = tokio::time::interval(Duration::from_millis(10));
            loop {
                looks.tick().await;
                let state = self.state().await;
                if wanted(&state) {
                    return state;
                }
            }
        };
        match tokio::time::timeout(Duration::from_secs(60), looking).await {
            Ok(state) => state,
            Err(_) => panic!("never: {what}; {:#}", self.state().await),
        }
    }

    /// Waits until so many issues were completed, and nothing is left to do.
    pub async fn until_completed(&self, count: u64) -> Value {
        let what = format!("{count} completed");
        let idle = |state: &Value| {
            let counts = &state["counts"];
            counts["completed"] == count && counts["running"] == 0 && counts["retrying"] == 0
        };
        self.until(&what, idle).await
    }

    pub async fn stop(self) {
        drop(self.stop);
        within("the end of the service", self.running)
            .await
            .unwrap();
    }
}
