//! The chat in a real terminal: tmux shows what a person would see, at 60 columns and without colour.

use std::process::Stdio;

use quipu_testkit::client::within;
use quipu_testkit::mcp::{HttpOptions, McpHttpServer};
use quipu_testkit::process::{ServerProcess, Signal};
use serde_json::json;
use tokio::process::Command;

use crate::exec::{Place, text};
use crate::exec_terminal::terminal;
use crate::support::{QUIPU, app_server};

/// What keeps a conversation from beginning is said before the screen is in use, and the program ends.
#[tokio::test]
async fn a_chat_that_cannot_begin_says_why_and_ends() {
    let no_model = "Error: no model is set up: ";
    let invalid = "config.toml:1:9: invalid type: integer `3`, expected a string";
    let unknown = "Error: no stored run has the id or name `nobody`; `quipu threads` lists them";
    let away = "Error: unix:///nowhere/quipu.sock: cannot connect to the unix socket /nowhere/quipu.sock: No such file or \
                directory (os error 2); is a server running there? `quipu app-server --listen unix:///nowhere/quipu.sock` starts one";
    for (config, args, why) in [
        ("", &[][..], no_model),
        ("", &["chat", "hello"], no_model),
        ("model = 3\n", &[], invalid),
        (
            "model_provider = \"offline\"\n",
            &["--resume", "nobody"],
            unknown,
        ),
        ("", &["--remote", "unix:///nowhere/quipu.sock"], away),
    ] {
        let place = Place::new();
        let file = place.directory.path().join(".quipu/config.toml");
        std::fs::write(file, config).unwrap();
        // The end of the person stays open.
        let (_person, program) = terminal();
        let mut command = place.quipu(args);
        command
            .stdin(program.try_clone().unwrap())
            .stdout(program)
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let output = within("the end of a chat", child.wait_with_output());
        let output = output.await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let printed = text(&output.stderr);
        assert_eq!(printed.matches(why).count(), 1, "{printed}");
        assert!(!printed.contains("using defaults"), "{printed}");
    }
}

/// A terminal with the chat in it, ended when it is dropped.
struct Terminal {
    socket: String,
    place: Place,
}

/// Whether there is tmux; without it these tests say so and pass.
fn has_tmux() -> bool {
    let found = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join("tmux").exists())
    });
    if !found {
        eprintln!("skipped: install tmux to test the chat");
    }
    found
}

#[expect(
    clippy::disallowed_methods,
    reason = "tmux is the tester's own and ends with the test"
)]
fn tmux(socket: &str, args: &[&str]) -> Command {
    let mut command = Command::new("tmux");
    command
        .args(["-f", "/dev/null", "-L", socket])
        .args(args)
        .stdin(Stdio::null());
    command
}

impl Terminal {
    /// Starts the chat with these arguments in a terminal of 60 columns and 30 rows.
    async fn start(place: Place, args: &str) -> Terminal {
        let name = place
            .directory
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy();
        let socket = format!("quipu{}", name.replace('.', ""));
        let terminal = Terminal { socket, place };
        terminal.open(args).await;
        terminal
    }

    async fn open(&self, args: &str) {
        let home = self.place.directory.path().display();
        let program = format!("env NO_COLOR=1 HOME={home} {QUIPU} {args}; echo left; exec sh");
        let work = self.place.work();
        let work = work.to_str().unwrap();
        let session = [
            "new-session",
            "-d",
            "-x",
            "60",
            "-y",
            "30",
            "-c",
            work,
            &program,
        ];
        let made = tmux(&self.socket, &session).output().await.unwrap();
        assert!(made.status.success(), "{made:?}");
    }

    /// Everything in the terminal, scrollback included.
    async fn shown(&self) -> String {
        let capture = ["capture-pane", "-p", "-S", "-"];
        let captured = tmux(&self.socket, &capture).output().await.unwrap();
        text(&captured.stdout).to_owned()
    }

    /// Waits until all of these can be read.
    async fn until(&self, wanted: &[&str]) -> String {
        let mut last = String::new();
        let looking = async {
            loop {
                last = self.shown().await;
                if wanted.iter().all(|it| last.contains(it)) {
                    return;
                }
            }
        };
        if tokio::time::timeout(std::time::Duration::from_secs(120), looking)
            .await
            .is_err()
        {
            panic!("{wanted:?} did not appear:\n{last}");
        }
        last
    }

    async fn keys(&self, keys: &[&str]) {
        let send = [&["send-keys"], keys].concat();
        let sent = tmux(&self.socket, &send).status().await.unwrap();
        assert!(sent.success());
    }

    /// Types text and sends it.
    async fn say(&self, text: &str) {
        self.keys(&["-l", text]).await;
        self.keys(&["Enter"]).await;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let mut kill = tmux(&self.socket, &["kill-server"]);
        drop(kill.as_std_mut().stderr(Stdio::null()).status());
    }
}

fn script(steps: serde_json::Value) -> String {
    json!({ "script": steps }).to_string()
}

fn run(command: &str) -> serde_json::Value {
    json!({ "calls": [{ "name": "shell_command", "arguments": { "command": command } }] })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_stays_in_the_scrollback() {
    if !has_tmux() {
        return;
    }
    let terminal = Terminal::start(Place::new(), "").await;
    terminal.until(&["\n>"]).await;
    let long = "word ".repeat(40);
    terminal
        .say(&script(
            json!([{ "deltas": ["# Ti", "tle\n", long, "\n- e", "nd \u{1b}[3", "1mred"] }]),
        ))
        .await;
    let shown = terminal.until(&["Title", "- end red"]).await;
    assert!(
        shown.lines().all(|line| line.chars().count() <= 60),
        "{shown}"
    );
    assert!(!shown.contains("[31m"), "{shown}");
    // Approved by one key, with what it printed and how it ended.
    terminal.say("/approvals read-only").await;
    terminal.until(&["approvals: read-only"]).await;
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+line\n*** End Patch";
    terminal
        .say(&script(json!([{ "patch": patch }, { "text": "patched" }])))
        .await;
    terminal
        .until(&["May these files be changed?", "+line"])
        .await;
    terminal.keys(&["y"]).await;
    terminal.until(&["allowed", "* added", "patched"]).await;
    assert!(terminal.place.work().join("new.txt").exists());
    terminal.say("/approvals full").await;
    terminal.until(&["approvals: full"]).await;
    terminal
        .say(&script(
            json!([run("seq 1 40; exit 3"), { "text": "counted" }]),
        ))
        .await;
    terminal
        .until(&["$ seq 1 40; exit 3", "… 28 lines", "exit code 3", "counted"])
        .await;
    terminal.say("/status").await;
    terminal.until(&["directory", "dangerFullAccess"]).await;
    terminal.say("/nope").await;
    terminal.until(&["there is no command /nope"]).await;
    terminal.keys(&["C-u"]).await;
    terminal.say("/quit").await;
    terminal.until(&["continue with: --resume", "left"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_stops_a_turn_and_what_was_typed_stays() {
    if !has_tmux() {
        return;
    }
    let terminal = Terminal::start(Place::new(), "").await;
    terminal.until(&["\n>"]).await;
    terminal
        .say(&script(
            json!([{ "stall": true, "deltas": ["begun\nhalf"] }]),
        ))
        .await;
    terminal.until(&["half", "ctrl-c stops"]).await;
    terminal.keys(&["-l", "a draft"]).await;
    terminal.until(&["> a draft"]).await;
    terminal.keys(&["C-c"]).await;
    terminal.until(&["* stopped", "> a draft"]).await;
    terminal.keys(&["C-c"]).await;
    terminal.keys(&["Up"]).await;
    terminal.until(&["> a draft"]).await;
    terminal.keys(&["C-c", "C-c"]).await;
    terminal.until(&["ctrl-c again to leave"]).await;
    terminal.keys(&["C-c"]).await;
    terminal.until(&["left"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_complete_and_conversations_are_resumed() {
    if !has_tmux() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.work().join("unusual_name.rs"), "").unwrap();
    let terminal = Terminal::start(place, "").await;
    terminal.until(&["\n>"]).await;
    terminal
        .say(&script(json!([{ "deltas": ["the fir", "st answer"] }])))
        .await;
    terminal.until(&["the first answer"]).await;
    terminal.keys(&["-l", "see @unusual"]).await;
    terminal.until(&["> unusual_name.rs"]).await;
    terminal.keys(&["Tab"]).await;
    terminal.until(&["> see unusual_name.rs"]).await;
    terminal.keys(&["C-u"]).await;
    terminal.say("/new").await;
    terminal.keys(&["-l", "/res"]).await;
    terminal.until(&["continue another conversation"]).await;
    terminal.keys(&["Enter"]).await;
    terminal.until(&["choose a conversation"]).await;
    terminal.keys(&["Enter"]).await;
    let again = async { while terminal.shown().await.matches("the first answer").count() < 2 {} };
    within("the conversation", again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_server_is_shown_and_retried_and_nothing_typed_is_lost() {
    if !has_tmux() {
        return;
    }
    let place = Place::new();
    let home = place.directory.path().join(".quipu");
    let listen = |address: &str| -> ServerProcess {
        app_server(["--listen", address])
            .env("QUIPU_HOME", home.to_str().unwrap())
            .start()
    };
    let mut server = listen("ws://127.0.0.1:0");
    let url = server.url().await;
    let terminal = Terminal::start(place, &format!("--remote {url}")).await;
    terminal.until(&["\n>"]).await;
    terminal
        .say(&script(json!([{ "deltas": ["be", "fore"] }])))
        .await;
    terminal.until(&["before"]).await;
    server.signal(Signal::KILL);
    server.exit().await;
    terminal.until(&["no server, retrying"]).await;
    terminal
        .say(&script(json!([{ "deltas": ["after", "wards"] }])))
        .await;
    let _server = listen(&url);
    terminal.until(&["connected again"]).await;
    terminal.keys(&["Enter"]).await;
    terminal.until(&["afterwards"]).await;
}

#[tokio::test]
async fn without_a_terminal_the_usage_is_shown() {
    let place = Place::new();
    let output = place.quipu(&[]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("Usage: quipu"), "{output:?}");
    let bad = place
        .quipu(&["chat", "--remote", "http://x"])
        .output()
        .await
        .unwrap();
    assert!(text(&bad.stderr).contains("ws://HOST:PORT"), "{bad:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_of_an_mcp_server_is_filled_in() {
    if !has_tmux() {
        return;
    }
    let options = HttpOptions {
        streams: true,
        ..HttpOptions::default()
    };
    let mcp = McpHttpServer::start(options).await.unwrap();
    let place = Place::new();
    let config = place.directory.path().join(".quipu/config.toml");
    let url = mcp.url();
    let settings = format!("model_provider = \"offline\"\n[mcp_servers.forms]\nurl = \"{url}\"\n");
    std::fs::write(config, settings).unwrap();
    let terminal = Terminal::start(place, "").await;
    terminal.until(&["\n>"]).await;
    let call = json!({ "calls": [{ "name": "mcp__forms__ask_form", "arguments": {} }] });
    terminal
        .say(&script(json!([call, { "deltas": ["tha", "nks"] }])))
        .await;
    terminal
        .until(&["forms: Who? (a form with 2 fields)"])
        .await;
    terminal.keys(&["y"]).await;
    terminal.until(&["Name", "type the answer"]).await;
    terminal.say("A").await;
    terminal.until(&["At least 2 characters. Name"]).await;
    terminal.say("Ada").await;
    terminal.until(&["color (optional)", "2 blue"]).await;
    terminal.keys(&["2"]).await;
    terminal.until(&["thanks"]).await;
    let sent = mcp.requests().into_iter();
    let mut sent = sent.filter_map(|it| serde_json::from_slice(&it.body).ok());
    let content = json!({ "color": "blue", "name": "Ada" });
    assert!(sent.any(|it: serde_json::Value| it["result"]["content"] == content));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_files_are_changes_and_a_review_is_shown_once() {
    if !has_tmux() {
        return;
    }
    let terminal = Terminal::start(Place::new(), "").await;
    terminal.until(&["\n>"]).await;
    // Files that git does not know yet are changes too, also before the first commit.
    terminal.say("/approvals full").await;
    terminal.until(&["approvals: full"]).await;
    let make = "git init -q . && echo fresh > new.txt";
    terminal
        .say(&script(json!([run(make), { "deltas": ["ma", "de"] }])))
        .await;
    terminal.until(&["made"]).await;
    terminal.say("/diff").await;
    terminal.until(&["new.txt", "+fresh"]).await;
    // A review is shown once, without the task that the reviewer got.
    let findings = script(json!([{ "text": "all is well" }]));
    terminal.say(&format!("/review {findings}")).await;
    terminal.until(&["* reviewing", "\nall is well"]).await;
    terminal.say("/status").await;
    let shown = terminal.until(&["directory"]).await;
    assert_eq!(shown.matches("\nall is well").count(), 1, "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_mcp_server_that_does_not_start_is_shown() {
    if !has_tmux() {
        return;
    }
    let place = Place::new();
    let config = place.directory.path().join(".quipu/config.toml");
    let settings =
        "model_provider = \"offline\"\n[mcp_servers.vanished]\ncommand = \"/no/such/program\"\n";
    std::fs::write(config, settings).unwrap();
    let terminal = Terminal::start(place, "").await;
    terminal
        .until(&["\n>", "vanished", "failed to start"])
        .await;
    // The conversation goes on without it.
    terminal
        .say(&script(json!([{ "deltas": ["still ", "here"] }])))
        .await;
    terminal.until(&["\nstill here"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_printed_at_the_end_continues_the_conversation() {
    if !has_tmux() {
        return;
    }
    let terminal = Terminal::start(Place::new(), "").await;
    terminal.until(&["\n>"]).await;
    terminal
        .say(&script(json!([{ "deltas": ["the on", "ly answer"] }])))
        .await;
    terminal.until(&["\nthe only answer"]).await;
    terminal.say("/quit").await;
    let shown = terminal.until(&["continue with: ", "\nleft"]).await;
    let (_, rest) = shown.split_once("continue with: ").unwrap();
    let printed = rest.lines().next().unwrap().trim();
    let id = printed.strip_prefix("--resume ").unwrap();
    assert!(
        terminal
            .place
            .rollout()
            .contains(&format!(r#""id":"{id}""#)),
        "{shown}"
    );
    let home = terminal.place.directory.path().display();
    terminal
        .say(&format!("env NO_COLOR=1 HOME={home} {QUIPU} {printed}"))
        .await;
    let again = async { while terminal.shown().await.matches("\nthe only answer").count() < 2 {} };
    within("the conversation", again).await;
}
