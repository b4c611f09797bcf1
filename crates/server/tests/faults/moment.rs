//! The moments of a turn at which a fault may strike. Each is reached by waiting for what the server says
//! or asks the model, and held there: by a gate in the model's answer, a question without its answer, or a
//! command that waits for a file. None is hit by luck.

use std::path::PathBuf;

use quipu_model::script::Step;
use quipu_testkit::model::{Gate, Stop};
use serde_json::{Value, json};

use crate::ground::Ground;
use crate::wire::{Entry, Tried, Wire};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Between two turns.
    Idle,
    /// The model was asked and has said nothing.
    Asked,
    /// The model is in the middle of its words.
    Speaking,
    /// The model's words are complete, its answer is not.
    Said,
    CommandRuns,
    CommandEnded,
    PatchApplied,
    /// The user was asked about a command.
    CommandAsked,
    CommandAllowed,
    PatchAsked,
    PatchAllowed,
    /// A tool of the client was called.
    ToolAsked,
    ToolAnswered,
    /// A tool of an MCP server is at work.
    McpRuns,
    /// The MCP server asked the user something.
    McpAsked,
    McpAnswered,
    CompactionAsked,
    CompactionSpeaking,
    Compacted,
    ReviewAsked,
    ReviewCommandRuns,
    ReviewSpeaking,
    Reviewed,
}

use Moment::*;

pub const MOMENTS: [Moment; 23] = [
    Idle,
    Asked,
    Speaking,
    Said,
    CommandRuns,
    CommandEnded,
    PatchApplied,
    CommandAsked,
    CommandAllowed,
    PatchAsked,
    PatchAllowed,
    ToolAsked,
    ToolAnswered,
    McpRuns,
    McpAsked,
    McpAnswered,
    CompactionAsked,
    CompactionSpeaking,
    Compacted,
    ReviewAsked,
    ReviewCommandRuns,
    ReviewSpeaking,
    Reviewed,
];

/// What holds the moment, besides the model's gate.
pub enum Hold {
    /// The gate alone, which is reached.
    Gate,
    /// Nothing happens until a turn is started.
    Rest,
    /// A command reads from this pipe.
    Pipe(PathBuf),
    /// A question waits for this answer.
    Question {
        method: &'static str,
        id: Value,
        answer: Value,
    },
}

/// A moment that was reached.
pub struct Held {
    /// Where the model's next answer can be made to fail.
    pub gate: Gate,
    pub hold: Hold,
    /// The turn that runs.
    pub turn: Option<String>,
}

/// What the command says that comes after the moment.
pub const AFTER: &str = "afterwards";

const COMMAND: &str = "item/commandExecution/requestApproval";
const PATCH: &str = "item/fileChange/requestApproval";
const MCP: &str = "mcpServer/elicitation/request";
const TOOL: &str = "item/tool/call";

impl Moment {
    pub fn name(self) -> &'static str {
        match self {
            Idle => "idle",
            Asked => "text: model asked",
            Speaking => "text: speaking",
            Said => "text: said",
            CommandRuns => "command: running",
            CommandEnded => "command: ended",
            PatchApplied => "patch: applied",
            CommandAsked => "approval of command: asked",
            CommandAllowed => "approval of command: given",
            PatchAsked => "approval of patch: asked",
            PatchAllowed => "approval of patch: given",
            ToolAsked => "dynamic tool: called",
            ToolAnswered => "dynamic tool: answered",
            McpRuns => "MCP call: running",
            McpAsked => "MCP call: user asked",
            McpAnswered => "MCP call: ended",
            CompactionAsked => "compaction: model asked",
            CompactionSpeaking => "compaction: speaking",
            Compacted => "compaction: done",
            ReviewAsked => "review: model asked",
            ReviewCommandRuns => "review: command running",
            ReviewSpeaking => "review: speaking",
            Reviewed => "review: done",
        }
    }

    /// The settings it needs: an MCP server whose process can be found by a mark.
    pub fn settings(self, mark: &str) -> String {
        if !self.has_mcp_server() {
            return String::new();
        }
        let program = std::env::current_exe().unwrap_or_default();
        let arguments = [quipu_testkit::mcp::ARGUMENT, "plain", mark];
        format!("[mcp_servers.s]\ncommand = {program:?}\nargs = {arguments:?}\n")
    }

    pub fn has_mcp_server(self) -> bool {
        matches!(self, McpRuns | McpAsked | McpAnswered)
    }

    /// Whether a command follows in the same turn.
    pub fn has_command_after(self) -> bool {
        !matches!(self, CompactionAsked | CompactionSpeaking)
    }

    /// How the thread is set up.
    pub fn thread(self) -> Value {
        let policy = match self {
            CommandAsked | CommandAllowed | PatchAsked | PatchAllowed => "untrusted",
            McpAsked => "on-request",
            _ => "never",
        };
        json!({
            "approvalPolicy": policy,
            "dynamicTools": [{ "name": "gate", "description": "waits", "inputSchema": { "type": "object" } }],
        })
    }

    /// Begins what the moment is part of and waits until it is there.
    pub async fn reach(
        self,
        ground: &Ground,
        wire: &mut Wire,
        thread: &str,
        mark: &str,
    ) -> Tried<Held> {
        let model = &ground.model;
        let words = json!({ "reasoning": "Hm.", "deltas": ["so ", "it ", "is"] });
        let gate = match self {
            CompactionAsked => model.queue_gated(step(words), Stop::BeforeAnswer),
            CompactionSpeaking => model.queue_gated(step(words), Stop::BeforeEnd),
            Speaking | ReviewSpeaking => model.queue_gated(then_call(words), Stop::BeforeEnd),
            Said => model.queue_gated(then_call(words), Stop::BeforeCompletion),
            _ => {
                let before = match self {
                    Idle | Asked | ReviewAsked => None,
                    Compacted | Reviewed => Some(json!({ "text": "the gist" })),
                    _ => Some(self.call(ground, mark)?),
                };
                before.into_iter().for_each(|it| model.queue(step(it)));
                model.queue_gated(then_call(words), Stop::BeforeAnswer)
            }
        };
        model.queue(end());
        let from = wire.position();
        let turn = self.begin(wire, thread).await?;
        self.arrive(
            ground,
            wire,
            from,
            Held {
                gate,
                hold: Hold::Gate,
                turn,
            },
        )
        .await
    }

    /// What the model calls.
    fn call(self, ground: &Ground, mark: &str) -> Tried<Value> {
        let calls = |name: &str, arguments: Value| json!({ "calls": [{ "name": name, "arguments": arguments }] });
        Ok(match self {
            CommandRuns | ReviewCommandRuns => {
                let pipe = pipe(ground);
                make_pipe(&pipe)?;
                let command = stubborn(mark, &pipe);
                calls(
                    "exec_command",
                    json!({ "cmd": command, "yield_time_ms": 30_000 }),
                )
            }
            CommandEnded => calls("exec_command", json!({ "cmd": "echo quick" })),
            CommandAsked | CommandAllowed => calls("exec_command", json!({ "cmd": "touch made" })),
            PatchApplied | PatchAsked | PatchAllowed => {
                json!({ "patch": "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch" })
            }
            McpRuns => {
                let pipe = pipe(ground);
                make_pipe(&pipe)?;
                calls("mcp__s__wait", json!({ "pipe": pipe }))
            }
            McpAsked => calls("mcp__s__ask", json!({})),
            McpAnswered => calls("mcp__s__echo", json!({ "z": 1 })),
            _ => calls("gate", json!({ "n": 1 })),
        })
    }

    async fn begin(self, wire: &mut Wire, thread: &str) -> Tried<Option<String>> {
        let from = wire.position();
        match self {
            Idle => return Ok(None),
            CompactionAsked | CompactionSpeaking | Compacted => {
                wire.call("thread/compact/start", json!({ "threadId": thread }))
                    .await?;
            }
            ReviewAsked | ReviewCommandRuns | ReviewSpeaking | Reviewed => {
                let target = json!({ "type": "custom", "instructions": "look at it" });
                let params = json!({ "threadId": thread, "delivery": "inline", "target": target });
                wire.call("review/start", params).await?;
            }
            _ => {
                wire.call("turn/start", input(thread, "work")).await?;
            }
        }
        let started = wire.method("turn/started", from).await?;
        Ok(Some(started.turn().to_owned()))
    }

    /// Waits for what makes the moment.
    async fn arrive(
        self,
        ground: &Ground,
        wire: &mut Wire,
        from: usize,
        mut held: Held,
    ) -> Tried<Held> {
        let of = |method: &'static str, kind: &'static str| {
            move |it: &Entry| it.method() == method && it.message["params"]["item"]["type"] == kind
        };
        let started = |kind| of("item/started", kind);
        let completed = |kind| of("item/completed", kind);
        match self {
            Idle => held.hold = Hold::Rest,
            Asked | CompactionAsked | ReviewAsked | CompactionSpeaking | ReviewSpeaking => {
                held.gate.reached().await;
            }
            Speaking => {
                wire.method("item/agentMessage/delta", from).await?;
                held.gate.reached().await;
            }
            Said => {
                wire.see("the message", from, completed("agentMessage"))
                    .await?;
            }
            CommandRuns | ReviewCommandRuns => {
                wire.method("item/commandExecution/outputDelta", from)
                    .await?;
                held.hold = Hold::Pipe(pipe(ground));
            }
            CommandEnded => {
                wire.see("the command", from, completed("commandExecution"))
                    .await?;
                held.gate.reached().await;
            }
            PatchApplied => {
                wire.see("the patch", from, completed("fileChange")).await?;
                held.gate.reached().await;
            }
            McpRuns => {
                wire.see("the call", from, started("mcpToolCall")).await?;
                held.hold = Hold::Pipe(pipe(ground));
            }
            McpAnswered => {
                wire.see("the call", from, completed("mcpToolCall")).await?;
                held.gate.reached().await;
            }
            CommandAsked | PatchAsked | ToolAsked | McpAsked => {
                held.hold = self.question(wire, from).await?
            }
            CommandAllowed | PatchAllowed | ToolAnswered => {
                let Hold::Question { id, answer, .. } = self.question(wire, from).await? else {
                    return Err("no question".to_owned());
                };
                wire.send(json!({ "id": id, "result": answer })).await;
                wire.method("serverRequest/resolved", from).await?;
                held.gate.reached().await;
            }
            Compacted | Reviewed => {
                wire.method("turn/completed", from).await?;
                held.turn = None;
                held.hold = Hold::Rest;
            }
        }
        Ok(held)
    }

    async fn question(self, wire: &mut Wire, from: usize) -> Tried<Hold> {
        let accept = json!({ "decision": "accept" });
        let (method, answer) = match self {
            CommandAsked | CommandAllowed => (COMMAND, accept),
            PatchAsked | PatchAllowed => (PATCH, accept),
            McpAsked => {
                let answer =
                    json!({ "action": "accept", "content": { "ok": true }, "_meta": null });
                (MCP, answer)
            }
            _ => {
                let said = json!([{ "type": "inputText", "text": "open" }]);
                (TOOL, json!({ "contentItems": said, "success": true }))
            }
        };
        let asked = wire.method(method, from).await?;
        let id = asked.message["id"].clone();
        Ok(Hold::Question { method, id, answer })
    }
}

/// Words of the model, and a tool call, so that tools can fail too.
pub fn then_call(mut words: Value) -> Step {
    let arguments = json!({ "cmd": format!("echo {AFTER}") });
    words["calls"] = json!([{ "name": "exec_command", "arguments": arguments }]);
    step(words)
}

/// The end of a turn; more than what a full disk may still have room for.
pub fn end() -> Step {
    step(json!({ "text": "done ".repeat(4000) }))
}

pub fn input(thread: &str, words: &str) -> Value {
    json!({ "threadId": thread, "input": [{ "type": "text", "text": words }] })
}

pub fn step(json: Value) -> Step {
    serde_json::from_value(json).unwrap_or_else(|error| panic!("not a step: {error}"))
}

fn pipe(ground: &Ground) -> PathBuf {
    ground.work().join("pipe")
}

fn make_pipe(path: &std::path::Path) -> Tried<()> {
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    let made = rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0);
    made.map_err(|error| format!("no pipe: {error}"))
}

/// A command that waits for the pipe and leaves descendants that do all they can to stay: they fork
/// twice, leave the session and ignore every signal.
fn stubborn(mark: &str, pipe: &std::path::Path) -> String {
    let deaf = "trap \"\" HUP INT QUIT TERM USR1 USR2 PIPE";
    format!(
        "(setsid setsid bash -c '{deaf}; sleep {mark}' </dev/null >/dev/null 2>&1 &); \
         (nohup bash -c '(nohup sleep {mark} &)' >/dev/null 2>&1 &); echo up; read x < '{}'; echo $x",
        pipe.display()
    )
}
