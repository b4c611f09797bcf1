//! Quipu and official servers on one home directory, when `QUIPU_TEST_CODEX` names official programs, separated
//! by colons: what either of them keeps, the other one lists, reads, resumes, forks, names and archives. With
//! both generations, 0.118 and 0.166, all three go on with the same threads in turns.
//! The journal's tests do the same with files that were captured once.

use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::model::ModelServer;
use quipu_testkit::process::{Launch, ServerProcess};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{QUIPU, scripted_home};

/// A home that several programs share, and the model they ask.
struct Shared {
    home: TempDir,
    model: ModelServer,
}

/// One program at work on the home.
struct Program {
    process: ServerProcess,
    client: Conversation,
}

impl Shared {
    async fn new() -> Shared {
        let (home, model) = scripted_home().await;
        Shared { home, model }
    }

    async fn open(&self, exe: &Path) -> Program {
        let home = self.home.path().to_str().unwrap();
        let launch = Launch::new(exe).args(["app-server"]);
        let mut process = launch
            .env("CODEX_HOME", home)
            .env("QUIPU_HOME", home)
            .start();
        let client = Conversation::start(process.stdio()).await;
        Program { process, client }
    }

    /// Runs a turn that answers with these words; what the model was sent.
    async fn turn(&self, program: &mut Program, thread: &str, words: &str) -> String {
        self.model
            .queue_json(json!({ "text": format!("answer to {words}") }));
        let input = json!([{ "type": "text", "text": words }]);
        let params = json!({ "threadId": thread, "input": input });
        program.client.call("turn/start", params).await;
        let ended = program.client.skip_to("turn/completed").await;
        assert_eq!(ended["params"]["turn"]["status"], "completed", "{ended}");
        let requests = self.model.requests();
        requests.last().unwrap().body["input"].to_string()
    }
}

impl Program {
    async fn close(mut self) {
        self.client.leave().await;
        self.process.exit().await;
    }

    async fn thread(&mut self) -> String {
        id(&self.client.call("thread/start", json!({})).await)
    }

    /// The stored threads, newest first.
    async fn list(&mut self, archived: bool) -> Vec<Value> {
        let params = json!({ "archived": archived, "limit": 50 });
        let mut page = self.client.call("thread/list", params).await;
        match page["data"].take() {
            Value::Array(threads) => threads,
            other => panic!("no list: {other}"),
        }
    }

    /// What was said in a thread, in order.
    async fn said(&mut self, thread: &str) -> Vec<String> {
        let params = json!({ "threadId": thread, "includeTurns": true });
        let read = self.client.call("thread/read", params).await;
        let turns = read["thread"]["turns"].as_array().unwrap().clone();
        let items = turns
            .iter()
            .flat_map(|turn| turn["items"].as_array().unwrap());
        let text = |item: &Value| match item["type"].as_str() {
            Some("userMessage") => item["content"][0]["text"].as_str().map(str::to_owned),
            Some("agentMessage") => item["text"].as_str().map(str::to_owned),
            _ => None,
        };
        items.filter_map(text).collect()
    }
}

fn id(answer: &Value) -> String {
    answer["thread"]["id"].as_str().unwrap().to_owned()
}

fn find<'a>(threads: &'a [Value], id: &str) -> &'a Value {
    let found = threads.iter().find(|it| it["id"] == id);
    found.unwrap_or_else(|| panic!("{id} is not in {threads:#?}"))
}

/// What `maker` keeps, `reader` continues; then `maker` finds what became of it. It may call the thread as it did
/// before: the newer official program keeps names that it has given in a database of its own.
async fn pass_on(maker: &Path, reader: &Path, keeps_names: bool) {
    let shared = Shared::new().await;
    let mut program = shared.open(maker).await;
    let kept = program.thread().await;
    shared.turn(&mut program, &kept, "one").await;
    shared.turn(&mut program, &kept, "two").await;
    let naming = json!({ "threadId": kept, "name": "A name" });
    program.client.call("thread/name/set", naming).await;
    let put_away = program.thread().await;
    shared.turn(&mut program, &put_away, "old").await;
    program
        .client
        .call("thread/archive", json!({ "threadId": put_away }))
        .await;
    program.close().await;

    let mut program = shared.open(reader).await;
    let listed = program.list(false).await;
    assert_eq!(find(&listed, &kept)["preview"], "one");
    assert_eq!(find(&listed, &kept)["name"], "A name");
    assert_eq!(listed.len(), 1, "the other one is archived");
    find(&program.list(true).await, &put_away);
    let words = ["one", "answer to one", "two", "answer to two"];
    assert_eq!(program.said(&kept).await, words);
    program
        .client
        .call("thread/resume", json!({ "threadId": kept }))
        .await;
    let sent = shared.turn(&mut program, &kept, "three").await;
    for word in words {
        assert!(
            sent.contains(&format!("\"{word}\"")),
            "the model knows {word}: {sent}"
        );
    }
    let fork = id(&program
        .client
        .call("thread/fork", json!({ "threadId": kept }))
        .await);
    let sent = shared.turn(&mut program, &fork, "aside").await;
    assert!(sent.contains("answer to three"), "{sent}");
    program
        .client
        .call("thread/archive", json!({ "threadId": fork }))
        .await;
    program
        .client
        .call("thread/unarchive", json!({ "threadId": put_away }))
        .await;
    let naming = json!({ "threadId": kept, "name": "Another name" });
    program.client.call("thread/name/set", naming).await;
    program.close().await;

    let mut program = shared.open(maker).await;
    let listed = program.list(false).await;
    let name = if keeps_names {
        "A name"
    } else {
        "Another name"
    };
    assert_eq!(find(&listed, &kept)["name"], name);
    find(&listed, &put_away);
    find(&program.list(true).await, &fork);
    let mut words: Vec<String> = words.map(str::to_owned).into();
    words.extend(["three".to_owned(), "answer to three".to_owned()]);
    // The newer official program reads what others added when it resumes a thread, not before.
    program
        .client
        .call("thread/resume", json!({ "threadId": kept }))
        .await;
    assert_eq!(program.said(&kept).await, words);
    let sent = shared.turn(&mut program, &kept, "four").await;
    assert!(
        sent.contains("answer to three") && !sent.contains("aside"),
        "{sent}"
    );
    program.close().await;
}

/// Both at once, each with its own threads.
async fn side_by_side(one: &Path, other: &Path) {
    let shared = Shared::new().await;
    let mut programs = [shared.open(one).await, shared.open(other).await];
    let threads = [programs[0].thread().await, programs[1].thread().await];
    for round in 0..5 {
        for (program, thread) in programs.iter_mut().zip(&threads) {
            shared
                .turn(program, thread, &format!("round {round}"))
                .await;
        }
    }
    for program in &mut programs {
        let listed = program.list(false).await;
        for thread in &threads {
            find(&listed, thread);
            assert_eq!(program.said(thread).await.len(), 10);
        }
    }
    let [first, second] = programs;
    first.close().await;
    second.close().await;
}

/// A thread that several programs go on with, and what was said in it.
struct Passed {
    thread: String,
    said: Vec<String>,
}

impl Passed {
    async fn new(shared: &Shared, program: &Path) -> Passed {
        let mut program = shared.open(program).await;
        let thread = program.thread().await;
        let mut passed = Passed {
            thread,
            said: Vec::new(),
        };
        passed.turn(shared, &mut program, "begin").await;
        program.close().await;
        passed
    }

    /// A turn; the model knows all that was said before.
    async fn turn(&mut self, shared: &Shared, program: &mut Program, words: &str) {
        let sent = shared.turn(program, &self.thread, words).await;
        for words in &self.said {
            let known = sent.contains(&format!("\"{words}\""));
            assert!(known, "the model knows {words:?}: {sent}");
        }
        self.said
            .extend([words.to_owned(), format!("answer to {words}")]);
    }

    async fn resume(&self, program: &mut Program) {
        let params = json!({ "threadId": self.thread });
        program.client.call("thread/resume", params).await;
    }

    /// Everything is shown once and in order.
    async fn check(&self, program: &mut Program) {
        assert_eq!(program.said(&self.thread).await, self.said);
    }
}

/// All three go on with threads of each of them. The older program adds lines to threads of the newer one that
/// the newer one cannot go on from; Quipu, which comes next, makes that good.
async fn in_turns(old: &Path, new: &Path, quipu: &Path) {
    let shared = Shared::new().await;
    let mut threads = Vec::new();
    for maker in [new, quipu, old] {
        threads.push(Passed::new(&shared, maker).await);
    }
    for (round, exe) in [
        quipu, new, quipu, old, quipu, new, quipu, old, quipu, old, quipu,
    ]
    .into_iter()
    .enumerate()
    {
        let mut program = shared.open(exe).await;
        for (number, passed) in threads.iter_mut().enumerate() {
            passed.resume(&mut program).await;
            passed
                .turn(&shared, &mut program, &format!("round {round}.{number}"))
                .await;
            if exe != old || number > 0 {
                passed.check(&mut program).await;
            }
        }
        program.close().await;
    }
    reverted(&shared, &mut threads[0], new, quipu).await;
    for exe in [new, quipu, old] {
        let mut program = shared.open(exe).await;
        let listed = program.list(false).await;
        for (number, passed) in threads.iter().enumerate() {
            find(&listed, &passed.thread);
            passed.resume(&mut program).await;
            if exe != old || number > 0 {
                passed.check(&mut program).await;
            }
        }
        program.close().await;
    }
    forked(&shared, &threads[0], &[old, new, quipu]).await;
}

/// The newer program takes back a turn; Quipu goes on from there, and it from that.
async fn reverted(shared: &Shared, passed: &mut Passed, new: &Path, quipu: &Path) {
    let mut program = shared.open(new).await;
    passed.resume(&mut program).await;
    let params = json!({ "threadId": passed.thread, "includeTurns": true });
    let read = program.client.call("thread/read", params).await;
    let last = read["thread"]["turns"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let params = json!({ "threadId": passed.thread, "beforeTurnId": last["id"] });
    program.client.call("thread/revert", params).await;
    passed.said.truncate(passed.said.len() - 2);
    passed.turn(shared, &mut program, "instead").await;
    program.close().await;
    for (exe, words) in [(quipu, "after the revert"), (new, "and again")] {
        let mut program = shared.open(exe).await;
        passed.resume(&mut program).await;
        passed.turn(shared, &mut program, words).await;
        passed.check(&mut program).await;
        program.close().await;
    }
}

/// A fork that Quipu makes is whole, and everybody goes on with it.
async fn forked(shared: &Shared, source: &Passed, programs: &[&Path; 3]) {
    let mut program = shared.open(programs[2]).await;
    let params = json!({ "threadId": source.thread });
    let mut fork = Passed {
        thread: id(&program.client.call("thread/fork", params).await),
        said: source.said.clone(),
    };
    fork.turn(shared, &mut program, "in the fork").await;
    program.close().await;
    for exe in programs {
        let mut program = shared.open(exe).await;
        fork.resume(&mut program).await;
        fork.turn(shared, &mut program, "on in the fork").await;
        fork.check(&mut program).await;
        program.close().await;
    }
}

/// While one program has a thread, the other one is told so; then it goes on.
async fn one_writer(holder: &Path, other: &Path) {
    let shared = Shared::new().await;
    let mut program = shared.open(holder).await;
    let mut passed = Passed {
        thread: program.thread().await,
        said: Vec::new(),
    };
    passed.turn(&shared, &mut program, "one").await;
    let mut waiting = shared.open(other).await;
    let thread = passed.thread.as_str();
    for method in ["thread/resume", "thread/archive"] {
        let params = json!({ "threadId": thread });
        let refusal = waiting.client.try_call(method, params).await.unwrap_err();
        let text = format!("thread {thread} already has an active writer");
        assert_eq!(refusal, json!({ "code": -32600, "message": text }));
    }
    program.close().await;
    passed.resume(&mut waiting).await;
    passed.turn(&shared, &mut waiting, "two").await;
    passed.check(&mut waiting).await;
    waiting.close().await;
}

/// The version that a program writes into its threads.
async fn version(exe: &Path) -> String {
    let shared = Shared::new().await;
    let mut program = shared.open(exe).await;
    let started = program.client.call("thread/start", json!({})).await;
    program.close().await;
    started["thread"]["cliVersion"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn official_servers_and_quipu_share_a_home() {
    let Some(programs) = std::env::var_os("QUIPU_TEST_CODEX") else {
        return;
    };
    let quipu = Path::new(QUIPU);
    let (mut old, mut new) = (None, None);
    for codex in std::env::split_paths(&programs) {
        let version = version(&codex).await;
        eprintln!("with {version}");
        pass_on(&codex, quipu, version == "0.166.0").await;
        pass_on(quipu, &codex, false).await;
        side_by_side(&codex, quipu).await;
        match version.as_str() {
            "0.118.0" => old = Some(codex),
            "0.166.0" => new = Some(codex),
            _ => {}
        }
    }
    if let Some(new) = &new {
        one_writer(new, quipu).await;
        one_writer(quipu, new).await;
    }
    if let (Some(old), Some(new)) = (old, new) {
        eprintln!("all three in turns");
        in_turns(&old, &new, quipu).await;
    }
}
