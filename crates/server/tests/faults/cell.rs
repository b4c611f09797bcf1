//! One cell of the matrix: reach the moment, let the fault strike, let everything go on, see how it ends,
//! and hold what was said and stored against the laws.

use std::io::Write as _;

use quipu_testkit::model::{Gate, Then};
use quipu_testkit::process::{ServerProcess, Signal};
use quipu_testkit::process_table;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::ground::Ground;
use crate::laws::{self, Said};
use crate::moment::{Held, Hold, Moment, end, input, then_call};
use crate::wire::{Entry, Tried, Wire};

/// A server in the middle of something.
pub struct Cell {
    pub ground: Ground,
    pub process: ServerProcess,
    pub wire: Wire,
    pub thread: String,
    /// The connections that ended before the cell did.
    past: Vec<Said>,
    mark: String,
    /// What keeps a released command's pipe open.
    pipe: Option<std::fs::File>,
}

/// Runs one cell; whether the client felt the fault, or why a law broke.
pub async fn run(fault: Fault, moment: Moment) -> Tried<bool> {
    let mut cell = Cell::start(fault, moment).await?;
    let outcome = cell.play(fault, moment).await;
    if let Some(directory) = std::env::var_os("QUIPU_FAULTS_LOGS") {
        let name = format!("{fault:?}-{moment:?}.log");
        cell.wire.save(&std::path::Path::new(&directory).join(name));
    }
    let described = |error: String| {
        let log = cell.process.stderr();
        let log: Vec<&str> = log.lines().rev().take(6).collect();
        format!(
            "{error}\n    {}\n    log: {}",
            cell.wire.tail(),
            log.join("\n         ")
        )
    };
    outcome.map_err(described)
}

impl Cell {
    /// A server with a thread that has one turn.
    async fn start(fault: Fault, moment: Moment) -> Tried<Cell> {
        let mark = process_table::marker();
        let ground = Ground::new(fault.needs(), &moment.settings(&mark)).await?;
        let mut process = ground.serve(ground.over_socket());
        let mut wire = connect(&mut process, ground.over_socket()).await?;
        let mut params = moment.thread();
        params["cwd"] = json!(ground.work());
        let started = wire.call("thread/start", params).await?;
        let thread = started["thread"]["id"].as_str().unwrap_or_default();
        let thread = thread.to_owned();
        if moment.has_mcp_server() {
            let is_ready = |it: &Entry| it.message["params"]["status"] == "ready";
            wire.see("the MCP server", 0, is_ready).await?;
        }
        let mut cell = Cell {
            ground,
            process,
            wire,
            thread,
            past: Vec::new(),
            mark,
            pipe: None,
        };
        cell.turn("first").await?;
        Ok(cell)
    }

    async fn play(&mut self, fault: Fault, moment: Moment) -> Tried<bool> {
        let reached = moment.reach(&self.ground, &mut self.wire, &self.thread, &self.mark);
        let held = reached
            .await
            .map_err(|error| format!("the moment: {error}"))?;
        let from = self.wire.position();
        let survives = fault.strike(self, held).await?;
        let felt = !survives
            || !self.past.is_empty()
            || self.wire.tells_of_failure(from, moment.has_command_after());
        if survives {
            fault.heal(self)?;
            self.ground.model.clear();
            self.answers().await?;
            self.turn("and on").await?;
            laws::check_bounds(self.process.peak_memory())?;
            self.stop().await?;
        }
        let mut said = std::mem::take(&mut self.past);
        said.push(Said::new(&self.wire, survives || fault.ends_in_order()));
        self.no_orphans().await?;
        laws::check_wire(&said)?;
        laws::check_secrets(&said, &self.process.stderr(), &self.ground)?;
        fault.before_reload(self);
        self.ground.model.clear();
        self.reload(&said, fault).await?;
        laws::check_journal(&self.ground, &self.thread, fault.damages_rollout())?;
        Ok(felt)
    }

    /// A whole turn with a tool call, which must work.
    pub async fn turn(&mut self, words: &str) -> Tried<()> {
        self.ground.model.queue(then_call(json!({})));
        self.ground.model.queue(end());
        turn(&mut self.wire, &self.thread, words).await
    }

    async fn answers(&mut self) -> Tried<()> {
        self.wire
            .call("thread/loaded/list", json!({}))
            .await
            .map(drop)
    }

    /// Lets everything go on and waits for the end of the turn, or of the connection.
    pub async fn go_on(&mut self, held: Held, then: Then) -> Tried<()> {
        let Held { gate, hold, turn } = held;
        let turn = match hold {
            Hold::Gate => turn,
            Hold::Rest => {
                let id = self
                    .wire
                    .ask("turn/start", input(&self.thread, "work"))
                    .await;
                let answer = self.wire.answered(id).await?;
                let turn = &answer["result"]["turn"]["id"];
                turn.as_str().map(str::to_owned)
            }
            Hold::Pipe(path) => {
                // Open for both, so that it neither waits for a reader nor fails without one.
                let open = std::fs::OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(path);
                let mut pipe = open.map_err(|error| format!("the pipe: {error}"))?;
                pipe.write_all(b"go\n").map_err(|error| error.to_string())?;
                self.pipe = Some(pipe);
                turn
            }
            Hold::Question { id, answer, .. } => {
                self.wire.send(json!({ "id": id, "result": answer })).await;
                turn
            }
        };
        let Some(turn) = turn else {
            // The turn was refused, which is an answer.
            return Ok(());
        };
        self.open(gate, then, &turn).await;
        self.ended(&turn).await
    }

    /// Opens the gate when the model comes to it; the turn may end before.
    async fn open(&mut self, mut gate: Gate, then: Then, turn: &str) {
        let reached = tokio::select! {
            () = gate.reached() => true,
            _ = self.wire.see("the end", 0, |it| is_end(it, turn)) => false,
        };
        if reached {
            gate.open(then);
        }
    }

    pub async fn ended(&mut self, turn: &str) -> Tried<()> {
        let ended = self
            .wire
            .see("the end of the turn", 0, |it| is_end(it, turn));
        ended.await.map(drop)
    }

    /// Takes a new connection in the place of the old one and joins the thread; the question that was
    /// open is asked again there.
    pub async fn rejoin(&mut self, held: &mut Held) -> Tried<()> {
        let fresh = Wire::socket(&mut self.process).await?;
        let mut gone = std::mem::replace(&mut self.wire, fresh);
        gone.vanish().await;
        self.past.push(Said::new(&gone, false));
        let resumed = self
            .wire
            .call("thread/resume", json!({ "threadId": self.thread }))
            .await?;
        if let Hold::Question { method, id, .. } = &mut held.hold {
            *id = self.wire.method(method, 0).await?.message["id"].clone();
        }
        let turns = resumed["thread"]["turns"].as_array();
        let open = turns
            .into_iter()
            .flatten()
            .any(|it| it["status"] == "inProgress");
        match (open, &held.turn) {
            (false, Some(turn)) => Err(format!("the turn {turn} ended with its client")),
            _ => Ok(()),
        }
    }

    /// Ends the server in good order.
    async fn stop(&mut self) -> Tried<()> {
        match self.ground.over_socket() {
            true => self.process.signal(Signal::TERM),
            false => self.wire.end().await,
        }
        self.exits_well().await
    }

    /// Waits for an end in good order.
    pub async fn exits_well(&mut self) -> Tried<()> {
        let code = self.process.exit().await;
        self.wire.rest().await?;
        match code.code() {
            Some(0) => Ok(()),
            _ => Err(format!("the server ended with {code}")),
        }
    }

    async fn no_orphans(&mut self) -> Tried<()> {
        let left = process_table::left(&self.mark).await;
        match left.is_empty() {
            true => Ok(()),
            false => Err(format!("law 3: left behind: {left:?}")),
        }
    }

    /// A new server finds what the old one told, and goes on.
    async fn reload(&mut self, said: &[Said], fault: Fault) -> Tried<()> {
        let in_reload = |error| format!("after the reload: {error}");
        let mut process = self.ground.serve(false);
        let mut wire = connect(&mut process, false).await.map_err(in_reload)?;
        let listed = wire
            .call("thread/list", json!({}))
            .await
            .map_err(in_reload)?;
        let ids = listed["data"].as_array().into_iter().flatten();
        if !ids.into_iter().any(|it| it["id"] == json!(self.thread)) {
            return Err(format!("law 2: the thread is not listed: {listed}"));
        }
        let params = json!({ "threadId": self.thread, "includeTurns": true });
        if fault.stays_read_only() {
            let read = wire
                .call("thread/read", params.clone())
                .await
                .map_err(in_reload)?;
            laws::check_stored(said, &read["thread"])?;
            wire.call("thread/resume", json!({ "threadId": self.thread }))
                .await
                .map_err(in_reload)?;
            if turn(&mut wire, &self.thread, "unheard").await.is_ok() {
                return Err("law 2: a turn that cannot be stored is told as completed".to_owned());
            }
            fault.heal(self)?;
        }
        let resumed = wire
            .call("thread/resume", json!({ "threadId": self.thread }))
            .await;
        let resumed = resumed.map_err(in_reload)?;
        laws::check_stored(said, &resumed["thread"])?;
        turn(&mut wire, &self.thread, "after all")
            .await
            .map_err(in_reload)?;
        let read = wire.call("thread/read", params).await.map_err(in_reload)?;
        laws::check_stored(said, &read["thread"])?;
        wire.end().await;
        let code = process.exit().await;
        match code.code() {
            Some(0) => Ok(()),
            _ => Err(format!(
                "the second server ended with {code}: {}",
                process.stderr()
            )),
        }
    }
}

async fn connect(process: &mut ServerProcess, socket: bool) -> Tried<Wire> {
    match socket {
        true => Wire::socket(process).await,
        false => Wire::stdio(process).await,
    }
}

/// A whole turn that must work.
async fn turn(wire: &mut Wire, thread: &str, words: &str) -> Tried<()> {
    let answer = wire.call("turn/start", input(thread, words)).await?;
    let turn = answer["turn"]["id"].as_str().unwrap_or_default().to_owned();
    let end = wire
        .see("the end of the turn", 0, |it| is_end(it, &turn))
        .await?;
    let end: &Value = &end.message["params"]["turn"];
    match end["status"] == "completed" {
        true => Ok(()),
        false => Err(format!("the turn `{words}` ended so: {end}")),
    }
}

fn is_end(entry: &Entry, turn: &str) -> bool {
    entry.method() == "turn/completed" && entry.turn() == turn
}
