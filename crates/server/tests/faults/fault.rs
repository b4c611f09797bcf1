//! The faults: what each needs, how it strikes, and how the world is mended afterwards.

use std::io::Write as _;

use quipu_testkit::model::Then;
use quipu_testkit::process::Signal;
use quipu_testkit::process_table::family;
use quipu_testkit::small_disk::SmallDisk;
use serde_json::json;

use crate::cell::Cell;
use crate::ground::Needs;
use crate::moment::{Held, Hold};
use crate::wire::Tried;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Kill,
    Terminate,
    Interrupt,
    /// The owner of the process says no more, but listens.
    EndOfInput,
    /// The owner of the process is gone.
    OwnerGone,
    /// A client of a websocket is gone; another one takes over.
    ClientGone,
    SlowOwner,
    SlowClient,
    ModelCut,
    ModelCutOnce,
    ModelStalls,
    ModelGarbage,
    ModelFails,
    ModelHtml,
    DiskFull,
    ReadOnlyHome,
    CorruptIndex,
    CorruptRollout,
    ClockJump,
    NoFiles,
    NoProcesses,
    ToolPanics,
    HandlerPanics,
    ReaderPanics,
    ThreadPanics,
    HalfLines,
    DuplicateAnswer,
    LateAnswer,
}

use Fault::*;

pub const FAULTS: [Fault; 28] = [
    Kill,
    Terminate,
    Interrupt,
    EndOfInput,
    OwnerGone,
    ClientGone,
    SlowOwner,
    SlowClient,
    ModelCut,
    ModelCutOnce,
    ModelStalls,
    ModelGarbage,
    ModelFails,
    ModelHtml,
    DiskFull,
    ReadOnlyHome,
    CorruptIndex,
    CorruptRollout,
    ClockJump,
    NoFiles,
    NoProcesses,
    ToolPanics,
    HandlerPanics,
    ReaderPanics,
    ThreadPanics,
    HalfLines,
    DuplicateAnswer,
    LateAnswer,
];

const DAY: i64 = 24 * 60 * 60;
/// Requests of an owner that does not read; their answers are some two megabytes.
const UNREAD: usize = 1000;

impl Fault {
    pub fn name(self) -> &'static str {
        match self {
            Kill => "kill -9",
            Terminate => "SIGTERM",
            Interrupt => "turn/interrupt",
            EndOfInput => "owner ends its input",
            OwnerGone => "client gone (stdio)",
            ClientGone => "client gone (websocket)",
            SlowOwner => "slow client (stdio)",
            SlowClient => "slow client (websocket)",
            ModelCut => "model: cut",
            ModelCutOnce => "model: cut, then well",
            ModelStalls => "model: stall",
            ModelGarbage => "model: garbage",
            ModelFails => "model: 500",
            ModelHtml => "model: HTML",
            DiskFull => "disk full",
            ReadOnlyHome => "read-only home",
            CorruptIndex => "corrupt index",
            CorruptRollout => "corrupt rollout",
            ClockJump => "clock jump",
            NoFiles => "out of file descriptors",
            NoProcesses => "out of processes",
            ToolPanics => "panic in a tool",
            HandlerPanics => "panic in a handler",
            ReaderPanics => "panic in the model's reader",
            ThreadPanics => "panic in the thread",
            HalfLines => "half-written lines",
            DuplicateAnswer => "duplicate answers",
            LateAnswer => "late answers",
        }
    }

    pub fn needs(self) -> Needs {
        Needs {
            small_disk: self == DiskFull,
            plain_user: matches!(self, ReadOnlyHome | NoProcesses),
            retries: u32::from(self == ModelCutOnce),
            impatient: self == ModelStalls,
            socket: matches!(self, ClientGone | SlowClient),
        }
    }

    /// Why it cannot be tried here.
    pub fn impossible(self) -> Option<String> {
        let foreign = std::env::var_os("QUIPU_BIN").is_some();
        match self {
            DiskFull => SmallDisk::mount()
                .err()
                .map(|it| format!("no disk can be mounted: {it}")),
            ToolPanics | HandlerPanics | ReaderPanics | ThreadPanics
                if foreign || !cfg!(debug_assertions) =>
            {
                Some("builds for release have no fail points".to_owned())
            }
            ClockJump if foreign => {
                Some("only the test's own build has a clock that jumps".to_owned())
            }
            _ => None,
        }
    }

    /// Whether a connection that it ends is ended in good order, with everything said.
    pub fn ends_in_order(self) -> bool {
        matches!(self, Terminate | EndOfInput)
    }

    pub fn stays_read_only(self) -> bool {
        self == ReadOnlyHome
    }

    pub fn damages_rollout(self) -> bool {
        self == CorruptRollout
    }

    /// Strikes, and lets everything go on to its end; whether the server lives and serves this client.
    pub async fn strike(self, cell: &mut Cell, mut held: Held) -> Tried<bool> {
        match self {
            Kill => {
                cell.process.signal(Signal::KILL);
                cell.process.exit().await;
                cell.wire.rest().await?;
                return Ok(false);
            }
            Terminate => {
                cell.process.signal(Signal::TERM);
                if held.turn.is_some() {
                    cell.go_on(held, Then::Finish).await?;
                }
                cell.exits_well().await?;
                return Ok(false);
            }
            EndOfInput => {
                cell.wire.end().await;
                cell.exits_well().await?;
                return Ok(false);
            }
            OwnerGone => {
                cell.wire.vanish().await;
                cell.exits_well().await?;
                return Ok(false);
            }
            Interrupt if held.turn.is_some() => return cell.interrupt(&held).await.map(|()| true),
            ClientGone => {
                cell.wire.vanish().await;
                cell.rejoin(&mut held).await?;
            }
            SlowClient => {
                cell.wire.set_reading(false);
                cell.wire.flood(&cell.ground.large_file()).await?;
                cell.rejoin(&mut held).await?;
            }
            SlowOwner => {
                cell.wire.set_reading(false);
                for _ in 0..UNREAD {
                    cell.wire.ask("no/such/method", json!({})).await;
                }
                cell.wire.set_reading(true);
            }
            HandlerPanics => cell.panicking_handler().await?,
            HalfLines => cell.half_lines().await?,
            DuplicateAnswer => cell.answer_twice(&mut held).await,
            LateAnswer => return cell.answer_late(held).await.map(|()| true),
            _ => self.change_the_world(cell)?,
        }
        cell.go_on(held, self.model_does()).await?;
        if self == ToolPanics {
            cell.turn("with a broken tool").await?;
        }
        Ok(true)
    }

    /// How the model's next answer goes on.
    fn model_does(self) -> Then {
        match self {
            ModelCut | ModelCutOnce => Then::Cut,
            ModelStalls => Then::Stall,
            ModelGarbage => Then::Garbage,
            ModelFails => Then::Fail,
            ModelHtml => Then::Html,
            _ => Then::Finish,
        }
    }

    /// The faults of everything around the server.
    fn change_the_world(self, cell: &Cell) -> Tried<()> {
        let ground = &cell.ground;
        match self {
            DiskFull => drop(ground.disk.as_ref().map(SmallDisk::fill)),
            ReadOnlyHome => ground.set_writable(false),
            CorruptIndex => spoil_index(cell),
            CorruptRollout => tear(cell),
            ClockJump => ground.clock.shift(DAY),
            NoFiles => ground.limit(cell.process.pid(), "files", Some(free_descriptor(cell)))?,
            NoProcesses => {
                for member in family(cell.process.pid()) {
                    ground.limit(member, "processes", Some(0))?;
                }
            }
            ToolPanics => ground
                .panic_at("tool exec_command\ntool apply_patch\ntool gate\ntool mcp__s__echo\n"),
            ReaderPanics => ground.panic_at("model answer\n"),
            ThreadPanics => ground.panic_at("thread model\n"),
            _ => {}
        }
        Ok(())
    }

    /// Puts the world right again while the server runs.
    pub fn heal(self, cell: &Cell) -> Tried<()> {
        let ground = &cell.ground;
        match self {
            DiskFull => {
                let ballast = ground.disk.as_ref().map(|disk| disk.path().join("ballast"));
                let removed = ballast.map_or(Ok(()), std::fs::remove_file);
                removed.map_err(|error| error.to_string())?;
            }
            ReadOnlyHome => ground.set_writable(true),
            NoFiles => ground.limit(cell.process.pid(), "files", None)?,
            NoProcesses => {
                for member in family(cell.process.pid()) {
                    ground.limit(member, "processes", None)?;
                }
            }
            _ => ground.panic_at(""),
        }
        Ok(())
    }

    /// What the next server finds.
    pub fn before_reload(self, cell: &Cell) {
        match self {
            ReadOnlyHome => cell.ground.set_writable(false),
            CorruptIndex => spoil_index(cell),
            CorruptRollout => {
                insert_nonsense(cell);
                tear(cell);
            }
            ClockJump => cell.ground.clock.shift(-DAY),
            _ => {}
        }
    }
}

/// Writes nonsense over the beginning of every file of the index.
fn spoil_index(cell: &Cell) {
    for path in cell
        .ground
        .files(|name| name.contains(".sqlite") && !name.ends_with("-shm"))
    {
        let file = std::fs::OpenOptions::new().write(true).open(path);
        let spoiled = file.and_then(|mut file| file.write_all(&[0x5a; 8192]));
        spoiled.unwrap_or_else(|error| panic!("the index cannot be spoiled: {error}"));
    }
}

fn rollouts(cell: &Cell) -> Vec<std::path::PathBuf> {
    cell.ground
        .files(|name| name.contains(&cell.thread) && name.ends_with(".jsonl"))
}

/// Leaves half a line at the end, as a program does that dies while it writes.
fn tear(cell: &Cell) {
    for path in rollouts(cell) {
        let file = std::fs::OpenOptions::new().append(true).open(path);
        let torn = file.and_then(|mut file| file.write_all(b"{\"timestamp\":\"2026-01-01T00:00"));
        torn.unwrap_or_else(|error| panic!("the rollout cannot be torn: {error}"));
    }
}

/// Puts lines of nonsense between the others.
fn insert_nonsense(cell: &Cell) {
    for path in rollouts(cell) {
        let whole = std::fs::read(&path).unwrap_or_default();
        let mut spoiled = Vec::new();
        for line in whole.split_inclusive(|byte| *byte == b'\n') {
            spoiled.extend_from_slice(line);
            if line.ends_with(b"\n") {
                spoiled.extend_from_slice(
                    b"\x00\xff\xfe{\n{\"type\":\"event_msg\",\"payload\":7}\n[]\n",
                );
            }
        }
        std::fs::write(&path, spoiled).unwrap_or_default();
    }
}

/// The descriptor that the server would get next.
fn free_descriptor(cell: &Cell) -> u64 {
    let directory = format!("/proc/{}/fd", cell.process.pid());
    let is_used =
        |number: &u64| std::path::Path::new(&format!("{directory}/{number}")).is_symlink();
    (0..).find(|number| !is_used(number)).unwrap_or_default()
}

impl Cell {
    /// Interrupts the running turn and waits for its end; nothing that was held goes on.
    async fn interrupt(&mut self, held: &Held) -> Tried<()> {
        let turn = held.turn.clone().unwrap_or_default();
        let params = json!({ "threadId": self.thread, "turnId": turn });
        self.wire.call("turn/interrupt", params).await?;
        self.ended(&turn).await
    }

    async fn panicking_handler(&mut self) -> Tried<()> {
        self.ground.panic_at("handler thread/loaded/list\n");
        let id = self.wire.ask("thread/loaded/list", json!({})).await;
        let answer = self.wire.answered(id).await?;
        self.ground.panic_at("");
        match answer["error"]["code"] == -32603 {
            true => Ok(()),
            false => Err(format!("a panic was answered with {answer}")),
        }
    }

    /// Lines that are no messages, and a message that comes in two pieces.
    async fn half_lines(&mut self) -> Tried<()> {
        self.wire
            .send_bytes(b"{\"id\":\"half\",\"meth\n\xff\xfe\x00\n")
            .await;
        let id = self.wire.ask_in_pieces("thread/loaded/list").await;
        self.wire.answered(id).await.map(drop)
    }

    /// Answers what is asked three times, and what was never asked.
    async fn answer_twice(&mut self, held: &mut Held) {
        let unasked = json!({ "id": 4711, "result": { "decision": "accept" } });
        self.wire.send(unasked).await;
        if let Hold::Question { id, answer, .. } = &held.hold {
            for answer in [
                answer.clone(),
                answer.clone(),
                json!({ "decision": "cancel" }),
            ] {
                let message = json!({ "id": id, "result": answer });
                self.wire.send(message).await;
            }
            held.hold = Hold::Gate;
        }
    }

    /// Answers when the question is no longer open.
    async fn answer_late(&mut self, held: Held) -> Tried<()> {
        if matches!(held.hold, Hold::Question { .. }) {
            self.interrupt(&held).await?;
        } else {
            self.go_on(held, Then::Finish).await?;
        }
        let entries = self.wire.entries();
        let questions = entries
            .iter()
            .filter(|it| it.from_server && it.is_request());
        for question in questions {
            let answer =
                json!({ "id": question.message["id"], "result": { "decision": "accept" } });
            self.wire.send(answer).await;
        }
        Ok(())
    }
}
