//! The adapter with the program as its server, which is killed at every step of an evaluation: the error has its phase,
//! nothing is half done, and no process is left.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use quipu_adapter::{
    Adapter, Error, Event, EventKind, Phase, Prompt, Section, Server, Session, Slice, Tool,
    ToolContext, ToolError,
};
use quipu_testkit::client::within;
use quipu_testkit::process_table::{left, marker};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::QUIPU;

/// Becomes the server, after it has put itself between server and client. The server is killed once, by the first line
/// of a pattern, which does not arrive.
const RELAY: &str = r#"
flag=$1 to_server=$2 to_client=$3; shift 3
exec 3<&0 4>&1
dies() { mkdir "$flag" 2>/dev/null && kill -KILL $$; }
pass() { while IFS= read -r line; do case $line in $1) dies && exit;; esac; printf '%s\n' "$line"; done; }
exec "$@" < <(exec 4>&- <&3 3<&-; pass "$to_server") > >(exec >&4 4>&- 3<&-; pass "$to_client") 3<&- 4>&-
"#;

/// A step of an evaluation.
struct Step {
    name: &'static str,
    /// A line that shows it, on its way to the server or from it; as a pattern of the shell.
    to_server: &'static str,
    to_client: &'static str,
    phase: Phase,
    /// How often the tool has succeeded by then.
    counted: u32,
}

const NEVER: &str = "-";

/// The steps in their order. The last two belong to evaluations of their own.
const STEPS: &[Step] = &[
    Step::to_server("handshake", r#"*"method":"initialize"*"#, Phase::Request),
    Step::to_server(
        "thread/start",
        r#"*"method":"thread/start"*"#,
        Phase::Request,
    ),
    Step::to_client(
        "thread/started",
        r#"*"method":"thread/started"*"#,
        Phase::Request,
    ),
    Step::to_server("turn/start", r#"*"method":"turn/start"*"#, Phase::Request),
    Step::to_client(
        "question",
        r#"*"method":"item/tool/call"*"#,
        Phase::Response,
    ),
    Step {
        counted: 1,
        ..Step::to_server("tool's answer", r#"*"contentItems"*"#, Phase::Response)
    },
    Step::after_tool("deltas", "*agentMessage/delta*second*"),
    Step::after_tool("end", r#"*"method":"turn/completed"*"#),
    Step {
        counted: 1,
        ..Step::to_server(INTERRUPT, r#"*"method":"turn/interrupt"*"#, Phase::Deadline)
    },
];

const INTERRUPT: &str = "interrupt";

impl Step {
    const fn to_server(name: &'static str, pattern: &'static str, phase: Phase) -> Step {
        Step {
            name,
            to_server: pattern,
            to_client: NEVER,
            phase,
            counted: 0,
        }
    }

    const fn to_client(name: &'static str, pattern: &'static str, phase: Phase) -> Step {
        Step {
            name,
            to_server: NEVER,
            to_client: pattern,
            phase,
            counted: 0,
        }
    }

    const fn after_tool(name: &'static str, pattern: &'static str) -> Step {
        Step {
            name,
            to_server: NEVER,
            to_client: pattern,
            phase: Phase::Response,
            counted: 1,
        }
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Count(u32);

impl Slice for Count {
    const NAME: &'static str = "count";
    type Event = ();

    fn apply(&mut self, (): ()) {
        self.0 += 1;
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Answer {
    word: String,
}

/// A home with a server that is killed at a step.
struct Place {
    home: TempDir,
    mark: String,
    flag: PathBuf,
    adapter: Adapter,
    /// How many calls were reported as successful.
    reported: Arc<AtomicU32>,
}

impl Place {
    fn new(step: &Step, is_pooled: bool) -> Place {
        let (home, mark) = (TempDir::new().unwrap(), marker());
        let config = "model_provider = \"offline\"\nsandbox_mode = \"danger-full-access\"\n";
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        let flag = home.path().join("killed");
        let model = format!("model=\"{mark}\"");
        let relay = ["-c", RELAY, "relay", flag.to_str().unwrap()];
        let patterns = [step.to_server, step.to_client];
        let program = [QUIPU, "app-server", "-c", &model];
        let server = Server::spawn("/bin/bash")
            .args(relay.into_iter().chain(patterns).chain(program))
            .env("QUIPU_HOME", home.path())
            .env("HOME", home.path());
        let server = match is_pooled {
            true => server.pooled(),
            false => server,
        };
        let reported = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&reported);
        let adapter = Adapter::new(server)
            .cwd(home.path())
            .startup_timeout(Duration::from_secs(60))
            .on_event(move |event: &Event| {
                if let EventKind::ToolInvoked(it) = &event.kind
                    && it.tool == "act"
                    && it.success
                {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            });
        Place {
            home,
            mark,
            flag,
            adapter,
            reported,
        }
    }

    /// A prompt whose agent starts a command that would outlive everything, calls the tool and then does this.
    fn prompt(&self, then: &[Value]) -> Prompt<Answer> {
        let command = format!("sleep 600 # {}", self.mark);
        let lasting = json!({ "name": "exec_command", "arguments": { "cmd": command, "yield_time_ms": 100 } });
        let act = json!({ "name": "act", "arguments": {} });
        let mut steps = vec![json!({ "calls": [lasting] }), json!({ "calls": [act] })];
        steps.extend_from_slice(then);
        let tool = Tool::new("act", "Counts.", async |(), context: ToolContext| {
            context.session().dispatch::<Count>(());
            Ok::<_, ToolError>("counted")
        });
        let script = json!({ "script": steps }).to_string();
        Prompt::new("test")
            .section(Section::new("Task", script))
            .tool(tool)
    }

    /// An evaluation whose server is killed, and its session.
    async fn evaluate(&self, step: &Step) -> (Error, Session) {
        let mut limit = Duration::from_secs(4);
        loop {
            self.reported.store(0, Ordering::Relaxed);
            let session = Session::new();
            let error = self.evaluate_once(step, &session, limit).await;
            if self.flag.exists() {
                return (error, session);
            }
            // On a busy machine the deadline may come before there is a turn to interrupt.
            let name = step.name;
            let is_early = name == INTERRUPT && limit < Duration::from_secs(60);
            assert!(is_early, "{name}: it was not killed: {error}");
            limit *= 2;
        }
    }

    async fn evaluate_once(&self, step: &Step, session: &Session, limit: Duration) -> Error {
        let then = match step.name {
            INTERRUPT => vec![json!({ "text": "…", "stall": true })],
            _ => vec![pieces("second")],
        };
        let prompt = self.prompt(&then);
        let mut evaluation = self.adapter.evaluate(&prompt, session);
        if step.name == INTERRUPT {
            evaluation = evaluation.timeout(limit);
        }
        let done = tokio::time::timeout(Duration::from_secs(120), evaluation.into_future()).await;
        done.expect("an end").unwrap_err()
    }
}

/// An answer in pieces, one of them a word.
fn pieces(word: &str) -> Value {
    json!({ "deltas": ["{\"word\": \"", word, "\"}"] })
}

/// Kills the server at a step; what the caller sees of it.
async fn killed_at(step: &Step, is_pooled: bool) {
    let (name, place) = (step.name, Place::new(step, is_pooled));
    let (error, session) = place.evaluate(step).await;
    assert_eq!(error.phase(), step.phase, "{name}: {error}");
    if step.phase != Phase::Deadline {
        assert!(error.message().contains("signal: 9"), "{name}: {error}");
    }
    let reported = place.reported.load(Ordering::Relaxed);
    assert_eq!(session.get::<Count>().0, step.counted, "{name}: {error}");
    assert_eq!(reported, step.counted, "{name}: {error}");
    if is_pooled {
        // The next evaluation has a new server, which is not killed.
        let prompt = place.prompt(&[pieces("next")]);
        let next = place.adapter.evaluate(&prompt, &session);
        let next = within("an answer", async { next.await }).await;
        assert_eq!(next.unwrap().output.word, "next", "{name}");
        assert_eq!(session.get::<Count>().0, step.counted + 1, "{name}");
        place.adapter.close().await;
    }
    let left = left(&place.mark).await;
    assert!(left.is_empty(), "{name}: {left:?}");
    drop(place.home);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_its_own_may_be_killed_at_every_step() {
    join_all(STEPS.iter().map(|step| killed_at(step, false))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooled_server_may_be_killed_at_every_step() {
    join_all(STEPS.iter().map(|step| killed_at(step, true))).await;
}
