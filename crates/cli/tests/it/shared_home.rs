//! Several servers on one home directory: each thread has one writer, threads of the newer official program are
//! served like all others, and a command that holds locks delays nobody.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{Launch, ServerProcess};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{QUIPU, scripted_home};

const THREAD: &str = "01a1e286-dfa3-7c80-9568-67f3be9a7310";
const FORK: &str = "01a1e286-e740-7693-9f67-488a5a6e5a13";

struct Home {
    directory: TempDir,
    model: ModelServer,
}

struct Program {
    process: ServerProcess,
    client: Conversation,
}

impl Home {
    async fn new() -> Home {
        let (directory, model) = scripted_home().await;
        Home { directory, model }
    }

    /// With threads that the newer official program stored.
    async fn recorded() -> Home {
        let home = Home::new().await;
        let day = home.directory.path().join("sessions/2026/11/16");
        fs::create_dir_all(&day).unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../journal/tests/fixtures");
        for file in fs::read_dir(fixtures.join("paginated")).unwrap() {
            let file = file.unwrap();
            if file.file_name().to_str().unwrap().starts_with("rollout-") {
                fs::copy(file.path(), day.join(file.file_name())).unwrap();
            }
        }
        home
    }

    async fn open(&self) -> Program {
        let home = self.directory.path().to_str().unwrap();
        let launch = Launch::new(QUIPU).args(["app-server"]);
        let mut process = launch.env("QUIPU_HOME", home).start();
        let client = Conversation::start(process.stdio()).await;
        Program { process, client }
    }

    /// A turn that is answered with these words; what the model was sent.
    async fn turn(&self, program: &mut Program, thread: &str, words: &str) -> String {
        self.model
            .queue_json(json!({ "text": format!("answer to {words}") }));
        program.say(thread, words).await;
        let ended = program.client.skip_to("turn/completed").await;
        assert_eq!(ended["params"]["turn"]["status"], "completed", "{ended}");
        self.model.requests().last().unwrap().body["input"].to_string()
    }
}

impl Program {
    async fn say(&mut self, thread: &str, words: &str) {
        let input = json!([{ "type": "text", "text": words }]);
        let params = json!({ "threadId": thread, "input": input });
        self.client.call("turn/start", params).await;
    }

    async fn call(&mut self, method: &str, thread: &str) -> Value {
        self.client
            .call(method, json!({ "threadId": thread }))
            .await
    }

    async fn refused(&mut self, method: &str, thread: &str) -> Value {
        let params = json!({ "threadId": thread });
        self.client.try_call(method, params).await.unwrap_err()
    }

    async fn turns(&mut self, thread: &str) -> Vec<Value> {
        let params = json!({ "threadId": thread, "includeTurns": true });
        let read = self.client.call("thread/read", params).await;
        read["thread"]["turns"].as_array().unwrap().clone()
    }

    async fn list(&mut self) -> Vec<Value> {
        let page = self
            .client
            .call("thread/list", json!({ "limit": 50, "modelProviders": [] }))
            .await;
        page["data"].as_array().unwrap().clone()
    }

    async fn close(mut self) {
        self.client.leave().await;
        self.process.exit().await;
    }
}

fn id(answer: &Value) -> String {
    answer["thread"]["id"].as_str().unwrap().to_owned()
}

fn previews(threads: &[Value]) -> Vec<String> {
    let preview = |thread: &Value| {
        thread["preview"]
            .as_str()
            .unwrap()
            .chars()
            .take(6)
            .collect()
    };
    threads.iter().map(preview).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_has_one_writer_among_all_servers() {
    let home = Home::new().await;
    let (mut first, mut second) = (home.open().await, home.open().await);
    let thread = id(&first.client.call("thread/start", json!({})).await);
    home.turn(&mut first, &thread, "one").await;

    let text = format!("thread {thread} already has an active writer");
    let refusal = json!({ "code": -32600, "message": text });
    assert_eq!(second.refused("thread/resume", &thread).await, refusal);
    assert_eq!(second.refused("thread/archive", &thread).await, refusal);
    assert_eq!(second.turns(&thread).await.len(), 1);
    let naming = json!({ "threadId": thread, "name": "both may" });
    second.client.call("thread/name/set", naming).await;
    let fork = id(&second.call("thread/fork", &thread).await);
    home.turn(&mut second, &fork, "aside").await;
    assert_eq!(first.refused("thread/resume", &fork).await["code"], -32600);

    // The first one is not disturbed, and once it lets go, the second one goes on.
    home.turn(&mut first, &thread, "two").await;
    first.call("thread/unsubscribe", &thread).await;
    first.client.skip_to("thread/closed").await;
    let resumed = second.call("thread/resume", &thread).await;
    assert_eq!(resumed["thread"]["turns"].as_array().unwrap().len(), 2);
    let sent = home.turn(&mut second, &thread, "three").await;
    assert!(
        sent.contains("answer to two") && !sent.contains("aside"),
        "{sent}"
    );
    assert_eq!(first.refused("thread/resume", &thread).await, refusal);

    // A server that is killed holds nothing.
    second.process.signal(rustix::process::Signal::KILL);
    second.process.exit().await;
    first.call("thread/resume", &thread).await;
    home.turn(&mut first, &thread, "four").await;
    let turns = first.turns(&thread).await;
    assert!(
        turns
            .iter()
            .all(|turn| turn["items"].as_array().unwrap().len() == 2)
    );
    assert_eq!(turns.len(), 4);
    first.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_of_the_newer_official_program_are_served() {
    let home = Home::recorded().await;
    let mut program = home.open().await;
    assert_eq!(
        previews(&program.list().await),
        ["in the", "in the", "first "]
    );
    let search = json!({ "modelProviders": [], "searchTerm": "second fork" });
    let page = program.client.call("thread/list", search).await;
    assert_eq!(page["data"][0]["id"], FORK);
    let by_id = json!({ "conversationId": THREAD });
    let summary = program.client.call("getConversationSummary", by_id).await;
    assert!(
        summary["summary"]["preview"]
            .as_str()
            .unwrap()
            .starts_with("first ")
    );

    let before = program.turns(THREAD).await;
    let kinds: Vec<_> = before
        .iter()
        .flat_map(|turn| turn["items"].as_array().unwrap())
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    let expected = [
        "userMessage",
        "reasoning",
        "commandExecution",
        "agentMessage",
        "userMessage",
        "imageView",
        "collabAgentToolCall",
        "agentMessage",
        "userMessage",
        "userMessage",
        "agentMessage",
    ];
    assert_eq!(kinds, expected);
    let resumed = program.call("thread/resume", THREAD).await;
    assert_eq!(resumed["thread"]["turns"], Value::Array(before.clone()));
    let path = PathBuf::from(resumed["thread"]["path"].as_str().unwrap());
    let sent = home.turn(&mut program, THREAD, "sixth").await;
    assert!(sent.contains("fifth") && !sent.contains("fourth"), "{sent}");
    assert!(!sent.contains("metadata_passthrough"), "{sent}");
    let lines = fs::read_to_string(&path).unwrap();
    assert!(
        lines.lines().all(|line| line.contains("\"ordinal\":")),
        "{lines}"
    );
    assert!(lines.lines().last().unwrap().contains("task_complete"));

    let naming = json!({ "threadId": THREAD, "name": "Ours" });
    program.client.call("thread/name/set", naming).await;
    let back = json!({ "threadId": THREAD, "numTurns": 2 });
    let back = program.client.call("thread/rollback", back).await;
    assert_eq!(
        back["thread"]["turns"].as_array().unwrap().len(),
        before.len() - 1
    );
    let sent = home.turn(&mut program, THREAD, "seventh").await;
    assert!(sent.contains("third") && !sent.contains("sixth"), "{sent}");
    program.close().await;

    let mut program = home.open().await;
    assert_eq!(program.turns(THREAD).await.len(), before.len());
    let fork = id(&program.call("thread/fork", FORK).await);
    let sent = home.turn(&mut program, &fork, "here").await;
    assert!(sent.contains("in the second fork"), "{sent}");
    program.call("thread/archive", THREAD).await;
    assert_eq!(program.list().await.len(), 3);
    assert_eq!(program.turns(FORK).await.len(), 6);
    let back = program.call("thread/unarchive", THREAD).await;
    assert_eq!(back["thread"]["name"], "Ours");
    assert_eq!(program.turns(THREAD).await.len(), before.len());
    program.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_whose_beginning_is_missing_is_refused_in_words() {
    let home = Home::recorded().await;
    let day = home.directory.path().join("sessions/2026/11/16");
    for file in fs::read_dir(day).unwrap() {
        let path = file.unwrap().path();
        if path.to_str().unwrap().contains(THREAD) {
            fs::remove_file(path).unwrap();
        }
    }
    let mut program = home.open().await;
    assert_eq!(program.list().await.len(), 2);
    for method in ["thread/resume", "thread/fork"] {
        let refusal = program.refused(method, FORK).await;
        assert_eq!(refusal["code"], -32600);
        let text = refusal["message"].as_str().unwrap();
        assert!(text.contains("its history begins in the rollout"), "{text}");
        assert!(text.contains("which is missing"), "{text}");
    }
    program.close().await;
}

/// A command needs only to read a file to lock it. Turns wait for no such lock.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_locks_the_rollouts_delays_nothing() {
    let home = Home::new().await;
    let mut program = home.open().await;
    let thread = id(&program.client.call("thread/start", json!({})).await);
    home.turn(&mut program, &thread, "one").await;
    // Each file is locked by a shell of its own, which holds it until it is killed with the server.
    let path = home.directory.path().to_str().unwrap();
    let script = format!(
        "for f in $(find {path}/sessions -name '*.jsonl') {path}/session_index.jsonl; do touch $f; \
         (exec 9<$f; flock -n 9 || exit 1; echo locked; exec sleep 1000 >/dev/null 2>&1) & done; sleep 1000"
    );
    let call =
        json!({ "name": "exec_command", "arguments": { "cmd": script, "yield_time_ms": 30000 } });
    home.model.queue_json(json!({ "calls": [call] }));
    program.say(&thread, "lock").await;
    let mut locked = 0;
    while locked < 2 {
        let delta = program
            .client
            .skip_to("item/commandExecution/outputDelta")
            .await;
        locked += delta["params"]["delta"]
            .as_str()
            .unwrap()
            .matches("locked")
            .count();
    }

    // The turn that holds the locks cannot be told from one that waits for them, so another thread is asked
    // for its name, which goes into a file that is locked, and the turn itself to end.
    let begun = Instant::now();
    let naming = json!({ "threadId": thread, "name": "named" });
    program.client.call("thread/name/set", naming).await;
    let running = program
        .client
        .call("thread/read", json!({ "threadId": thread }))
        .await;
    assert_eq!(running["thread"]["name"], "named");
    for number in 0..20 {
        let steering = json!([{ "type": "text", "text": format!("more {number}") }]);
        let turn = program.turns(&thread).await.pop().unwrap()["id"].clone();
        let steer = json!({ "threadId": thread, "expectedTurnId": turn, "input": steering });
        program.client.call("turn/steer", steer).await;
    }
    let turn = program.turns(&thread).await.pop().unwrap()["id"].clone();
    let interrupt = json!({ "threadId": thread, "turnId": turn });
    program.client.call("turn/interrupt", interrupt).await;
    program.client.skip_to("turn/completed").await;
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(5), "it took {took:?}");
    program.close().await;
}
