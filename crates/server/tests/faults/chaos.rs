//! Chaos: server after server on one home, each with random clients, requests, answers and faults, and each
//! ended somehow. Everything that was said is remembered, and each server is asked for what those before it
//! have said. A seed decides the choices; what they meet is a matter of timing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::process_table;
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::ground::{Ground, Needs};
use crate::laws::{self, Said};
use crate::moment::input;
use crate::wire::{Tried, Wire};

/// How many threads are remembered. The oldest is forgotten for a new one.
const THREADS: usize = 12;
/// The most requests that one server gets.
const REQUESTS: usize = 40;

/// A run.
pub struct Chaos {
    ground: Ground,
    chance: Chance,
    /// What was said of each thread, oldest first.
    threads: Vec<Remembered>,
    prompts: usize,
    pub counts: Counts,
}

/// What happened, for people who wonder whether anything did.
#[derive(Default)]
pub struct Counts {
    pub servers: usize,
    pub requests: usize,
    pub answers: usize,
    pub turns: usize,
    pub checks: usize,
}

struct Remembered {
    id: String,
    said: Vec<Said>,
}

/// A server and its clients.
struct Scene {
    process: ServerProcess,
    wires: Vec<Client>,
    mark: String,
}

struct Client {
    wire: Wire,
    /// The threads that it follows.
    follows: BTreeSet<String>,
    /// The questions that were looked at.
    looked: usize,
}

impl Chaos {
    pub async fn new(seed: u64) -> Tried<Chaos> {
        let needs = Needs {
            retries: 1,
            impatient: true,
            socket: true,
            ..Needs::default()
        };
        Ok(Chaos {
            ground: Ground::new(needs, "").await?,
            chance: Chance::new(seed),
            threads: Vec::new(),
            prompts: 0,
            counts: Counts::default(),
        })
    }

    /// Runs for so long, and at least one server to its end.
    pub async fn run(&mut self, time: Duration) -> Tried<()> {
        let begun = Instant::now();
        loop {
            let outcome = self.server().await;
            self.counts.servers += 1;
            outcome.map_err(|error| format!("server {}: {error}", self.counts.servers))?;
            if begun.elapsed() >= time {
                return Ok(());
            }
        }
    }

    /// One server, from its start to its end.
    async fn server(&mut self) -> Tried<()> {
        let mut process = self.ground.serve(true);
        let mut wires = Vec::new();
        for _ in 0..1 + self.chance.below(3) {
            wires.push(Client {
                wire: Wire::socket(&mut process).await?,
                follows: BTreeSet::new(),
                looked: 0,
            });
        }
        let mark = process_table::marker();
        let mut scene = Scene {
            process,
            wires,
            mark,
        };
        let played = self.play(&mut scene).await;
        if let Some(directory) = std::env::var_os("QUIPU_FAULTS_LOGS") {
            for (number, client) in scene.wires.iter().enumerate() {
                let name = format!("chaos-{}-{number}.log", self.counts.servers);
                client
                    .wire
                    .save(&std::path::Path::new(&directory).join(name));
            }
        }
        played.map_err(|error| {
            let log = scene.process.stderr();
            let log: Vec<&str> = log.lines().rev().take(8).collect();
            let tails: Vec<String> = scene.wires.iter().map(|it| it.wire.tail()).collect();
            format!(
                "{error}\n  {}\n  log: {}",
                tails.join("\n  "),
                log.join("\n       ")
            )
        })
    }

    async fn play(&mut self, scene: &mut Scene) -> Tried<()> {
        self.recall(scene).await?;
        for _ in 0..self.chance.below(REQUESTS) {
            let client = self.chance.below(scene.wires.len());
            self.act(scene, client).await?;
            self.answer_questions(&mut scene.wires[client]).await;
        }
        laws::check_bounds(scene.process.peak_memory())?;
        self.end(scene).await
    }

    /// Asks the server for what those before it have said.
    async fn recall(&mut self, scene: &mut Scene) -> Tried<()> {
        let wire = &mut scene.wires[0].wire;
        for thread in &self.threads {
            if !thread.said.iter().any(Said::has_items) {
                continue;
            }
            let params = json!({ "threadId": thread.id, "includeTurns": true });
            let read = wire.call("thread/read", params).await?;
            laws::check_stored(&thread.said, &read["thread"])?;
            self.counts.checks += 1;
        }
        Ok(())
    }

    /// Sends one request, and waits for its answer or not.
    async fn act(&mut self, scene: &mut Scene, client: usize) -> Tried<()> {
        self.counts.requests += 1;
        let cwd = self.ground.work();
        let client = &mut scene.wires[client];
        let follows: Vec<String> = client.follows.iter().cloned().collect();
        let choice = match follows.is_empty() {
            true => self.chance.below(2),
            false => self.chance.below(24),
        };
        if choice == 0 {
            return self.start(client).await;
        }
        if choice == 1 {
            return self.resume(client).await;
        }
        let thread = self.chance.pick(&follows).clone();
        let turn = running_turn(&client.wire, &thread);
        let (method, params) = match choice {
            2..=9 => ("turn/start", self.turn(&thread, &scene.mark)),
            10..=12 => (
                "turn/interrupt",
                json!({ "threadId": thread, "turnId": turn }),
            ),
            13..=14 => {
                self.prompts += 1;
                let text = format!("more {}", self.prompts);
                let mut params = input(&thread, &text);
                params["expectedTurnId"] = json!(turn);
                ("turn/steer", params)
            }
            15 => ("thread/compact/start", json!({ "threadId": thread })),
            16 => {
                let command = format!("echo own; sleep 0.{}", self.chance.below(5));
                (
                    "thread/shellCommand",
                    json!({ "threadId": thread, "command": command }),
                )
            }
            17 => {
                let target = json!({ "type": "custom", "instructions": "look" });
                (
                    "review/start",
                    json!({ "threadId": thread, "target": target }),
                )
            }
            18 => (
                "thread/name/set",
                json!({ "threadId": thread, "name": "a name" }),
            ),
            19 => ("thread/list", json!({})),
            20 => (
                "thread/read",
                json!({ "threadId": thread, "includeTurns": true }),
            ),
            21 => ("no/such/method", json!({})),
            22 => ("turn/start", json!({ "threadId": 7, "input": "wrong" })),
            _ => (
                "command/exec",
                json!({ "command": ["sleep", &scene.mark], "cwd": cwd, "timeoutMs": 50 }),
            ),
        };
        let id = client.wire.ask(method, params).await;
        if self.chance.percent(40) {
            client.wire.answered(id).await?;
        }
        if self.chance.percent(5) {
            scene.process.signal(Signal::STOP);
            scene.process.signal(Signal::CONT);
        }
        Ok(())
    }

    /// The parameters of a turn; some are asked about.
    fn turn(&mut self, thread: &str, mark: &str) -> Value {
        self.prompts += 1;
        self.counts.turns += 1;
        let prompt = self.chance.prompt(self.prompts, mark);
        let mut params = input(thread, &prompt);
        let policy = ["never", "untrusted", "on-request"];
        params["approvalPolicy"] = json!(self.chance.pick(&policy));
        params
    }

    async fn start(&mut self, client: &mut Client) -> Tried<()> {
        let schema = json!({ "type": "object" });
        let gate = json!({ "name": "gate", "description": "waits", "inputSchema": schema });
        let params = json!({ "cwd": self.ground.work(), "dynamicTools": [gate] });
        let started = client.wire.call("thread/start", params).await?;
        let id = started["thread"]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        client.follows.insert(id.clone());
        if self.threads.len() >= THREADS {
            self.threads.remove(0);
        }
        let said = Vec::new();
        self.threads.push(Remembered { id, said });
        Ok(())
    }

    async fn resume(&mut self, client: &mut Client) -> Tried<()> {
        if self.threads.is_empty() {
            return self.start(client).await;
        }
        let place = self.chance.below(self.threads.len());
        let thread = &self.threads[place];
        let params = json!({ "threadId": thread.id });
        match client.wire.call("thread/resume", params).await {
            Ok(_) => {
                client.follows.insert(thread.id.clone());
                Ok(())
            }
            // A thread in which nothing has happened need not be there.
            Err(_) if !thread.said.iter().any(Said::has_items) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Answers some of the questions that a client was asked: well, badly, or not at all.
    async fn answer_questions(&mut self, client: &mut Client) {
        let entries = client.wire.entries();
        let new = entries.get(client.looked..).unwrap_or_default();
        client.looked = entries.len();
        let asked = new.iter().filter(|it| it.from_server && it.is_request());
        for question in asked {
            let id = question.message["id"].clone();
            let answers = [
                json!({ "decision": "accept" }),
                json!({ "decision": "decline" }),
                json!({ "decision": "cancel" }),
                json!({ "decision": "perhaps" }),
                json!({ "contentItems": [{ "type": "inputText", "text": "open" }], "success": true }),
                json!("nonsense"),
            ];
            self.counts.answers += 1;
            match self.chance.below(8) {
                0 => {}
                1 => {
                    let error = json!({ "code": -1, "message": "no" });
                    client.wire.send(json!({ "id": id, "error": error })).await;
                }
                _ => {
                    let result = self.chance.pick(&answers).clone();
                    client
                        .wire
                        .send(json!({ "id": id, "result": result }))
                        .await;
                }
            }
        }
    }

    /// Ends the server: by force, by a signal it hears, or after its clients are gone.
    async fn end(&mut self, scene: &mut Scene) -> Tried<()> {
        let is_killed = self.chance.percent(60);
        if !is_killed && self.chance.percent(30) {
            for client in &mut scene.wires {
                client.wire.vanish().await;
            }
        }
        let signal = if is_killed {
            Signal::KILL
        } else {
            Signal::TERM
        };
        scene.process.signal(signal);
        let status = scene.process.exit().await;
        if !is_killed && status.code() != Some(0) {
            return Err(format!("the server ended with {status}"));
        }
        let mut said = Vec::new();
        for client in &mut scene.wires {
            client.wire.rest().await?;
            said.push(Said::new(&client.wire, false));
        }
        laws::check_wire(&said)?;
        // Before the model was ever asked, there is no key to find.
        if !self.ground.model.requests().is_empty() {
            laws::check_secrets(&said, &scene.process.stderr(), &self.ground)?;
        }
        for thread in &mut self.threads {
            let of_thread = said.iter().map(|it| it.of_thread(&thread.id));
            thread.said.extend(of_thread.filter(Said::has_items));
        }
        match process_table::left(&scene.mark).await {
            left if left.is_empty() => Ok(()),
            left => Err(format!("law 3: left behind: {left:?}")),
        }
    }
}

/// The turn of a thread that began last and has not ended, as far as a client knows.
fn running_turn(wire: &Wire, thread: &str) -> String {
    let mut running: BTreeMap<String, usize> = BTreeMap::new();
    for (place, entry) in wire.entries().iter().enumerate() {
        if entry.message["params"]["threadId"] != json!(thread) {
            continue;
        }
        match entry.method() {
            "turn/started" => drop(running.insert(entry.turn().to_owned(), place)),
            "turn/completed" => drop(running.remove(entry.turn())),
            _ => {}
        }
    }
    let last = running.into_iter().max_by_key(|(_, place)| *place);
    last.map(|(turn, _)| turn).unwrap_or_default()
}
