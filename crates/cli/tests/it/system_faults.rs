//! A system that does not behave: a clock that jumps, and a disk that does not keep what it is given.
//! The real program runs with a library that stands before the C library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::app_server;

/// A home, and the means to make its server's system misbehave.
struct Lab {
    directory: TempDir,
    library: PathBuf,
}

impl Lab {
    fn new() -> Lab {
        let directory = tempfile::tempdir().unwrap();
        let library = directory.path().join("preload.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/preload.c");
        #[expect(clippy::disallowed_methods, reason = "the library is made here")]
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        assert!(made.unwrap().success());
        let home = directory.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let settings = "model_provider = \"offline\"\nsandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n";
        std::fs::write(home.join("config.toml"), settings).unwrap();
        Lab { directory, library }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn server(&self) -> ServerProcess {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        app_server([])
            .env("QUIPU_HOME", &text(self.path("home")))
            .env("LD_PRELOAD", self.library.to_str().unwrap())
            .env("QUIPU_TEST_CLOCK", &text(self.path("clock")))
            .env("QUIPU_TEST_UNSYNCED", &text(self.path("unsynced")))
            .start()
    }

    /// Lets the clock show the time in so many seconds.
    fn jump(&self, seconds: i64) {
        std::fs::write(self.path("new-clock"), seconds.to_string()).unwrap();
        std::fs::rename(self.path("new-clock"), self.path("clock")).unwrap();
    }
}

async fn turn(client: &mut Conversation, thread: &str, words: &str) -> Value {
    let script = json!({ "script": [
        { "calls": [{ "name": "exec_command", "arguments": { "cmd": format!("echo {words}") } }] },
        { "text": words },
    ] });
    let input = json!([{ "type": "text", "text": script.to_string() }]);
    client
        .call("turn/start", json!({ "threadId": thread, "input": input }))
        .await;
    let mut ended = client.skip_to("turn/completed").await;
    ended["params"]["turn"].take()
}

async fn start(client: &mut Conversation) -> String {
    let started = client.call("thread/start", json!({})).await;
    started["thread"]["id"].as_str().unwrap().to_owned()
}

fn statuses(thread: &Value) -> Vec<&str> {
    let turns = thread["turns"].as_array().unwrap();
    turns
        .iter()
        .map(|turn| turn["status"].as_str().unwrap())
        .collect()
}

/// Backwards by a year, forwards by ten, and to the first days of time, as without a battery.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_loses_nothing() {
    let lab = Lab::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    let year = 365 * 86_400;
    let mut process = lab.server();
    let mut client = Conversation::start(process.stdio()).await;
    let thread = start(&mut client).await;
    let mut others = Vec::new();
    let jumps = [0, -year, 10 * year, 86_400 - now];
    for (index, seconds) in jumps.into_iter().enumerate() {
        lab.jump(seconds);
        let ended = turn(&mut client, &thread, &format!("words{index}")).await;
        assert_eq!(ended["status"], "completed", "{ended}");
        let other = start(&mut client).await;
        turn(&mut client, &other, "other").await;
        others.push(other);
    }
    process.signal(Signal::KILL);
    process.exit().await;

    lab.jump(-2 * year);
    let mut process = lab.server();
    let mut client = Conversation::start(process.stdio()).await;
    let list = client.call("thread/list", json!({ "limit": 50 })).await;
    let listed: Vec<&str> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    for id in others.iter().chain([&thread]) {
        assert!(listed.contains(&id.as_str()), "{id} is not in {listed:?}");
    }
    let resumed = client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert_eq!(statuses(&resumed["thread"]), ["completed"; 4]);
    for (index, turn) in resumed["thread"]["turns"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let items = turn["items"].to_string();
        assert!(
            items.contains(&format!("words{index}")),
            "in their order: {items}"
        );
    }
    let ended = turn(&mut client, &thread, "on").await;
    assert_eq!(ended["status"], "completed", "{ended}");
}

/// The lines are written, but the system says that the disk has not taken them.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_whose_end_is_not_on_disk_is_not_reported_as_completed() {
    let lab = Lab::new();
    let mut process = lab.server();
    let mut client = Conversation::start(process.stdio()).await;
    let thread = start(&mut client).await;
    assert_eq!(
        turn(&mut client, &thread, "one").await["status"],
        "completed"
    );
    std::fs::write(lab.path("unsynced"), "").unwrap();
    let ended = turn(&mut client, &thread, "two").await;
    assert_eq!(ended["status"], "failed");
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("The thread cannot be stored: "),
        "{message}"
    );
    std::fs::remove_file(lab.path("unsynced")).unwrap();
    assert_eq!(
        turn(&mut client, &thread, "three").await["status"],
        "completed"
    );
    process.signal(Signal::KILL);
    process.exit().await;

    let mut process = lab.server();
    let mut client = Conversation::start(process.stdio()).await;
    let resumed = client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert_eq!(
        statuses(&resumed["thread"]),
        ["completed", "failed", "completed"],
        "what was told is what is found"
    );
}
