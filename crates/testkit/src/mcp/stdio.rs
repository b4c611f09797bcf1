//! The scripted server as a process: the test binary itself, started again with an argument.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::script::{Act, act, text};

/// The first argument that makes a test binary the scripted server; the second is the mode.
pub const ARGUMENT: &str = "--be-a-scripted-mcp-server";
/// Names a file to which every line that is read is appended.
pub const LOG_VARIABLE: &str = "SCRIPTED_MCP_LOG";

/// Becomes the scripted server if the arguments say so, and never returns then.
pub fn run_if_asked() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(ARGUMENT) {
        let mode = arguments.next().unwrap_or_default();
        Process::new(mode).run();
    }
}

struct Process {
    mode: String,
    log: Option<File>,
    grown: bool,
    asked: u64,
}

impl Process {
    fn new(mode: String) -> Process {
        let log = std::env::var_os(LOG_VARIABLE);
        let log = log.and_then(|path| File::options().create(true).append(true).open(path).ok());
        Process {
            mode,
            log,
            grown: false,
            asked: 0,
        }
    }

    fn run(mut self) -> ! {
        match self.mode.as_str() {
            "exit" => std::process::exit(0),
            "silent" => rest(),
            "noisy" => say_bytes(b"starting up...\n{\n"),
            _ => {}
        }
        loop {
            let message = self.read();
            if message.get("id").is_some() && message.get("method").is_some() {
                self.answer(&message);
            } else if self.mode == "curious" && message["method"] == "notifications/initialized" {
                // It asks before anybody has called a tool.
                let params = json!({ "mode": "url", "message": "Ready?", "url": "https://example.com/",
                    "elicitationId": "first" });
                say(
                    &json!({ "jsonrpc": "2.0", "id": "first", "method": "elicitation/create",
                    "params": params }),
                );
            }
        }
    }

    /// The next message; the end of the input ends the process.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(count) if count > 0 => {}
            _ if self.mode == "stubborn" => rest(),
            _ => std::process::exit(0),
        }
        if let Some(log) = &mut self.log {
            log.write_all(line.as_bytes())
                .expect("the log can be written");
        }
        serde_json::from_str(&line).expect("clients write JSON")
    }

    fn answer(&mut self, message: &Value) {
        let id = &message["id"];
        let method = message["method"].as_str().unwrap_or_default();
        let finish = |result: Value| say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        match act(&self.mode, self.grown, method, &message["params"]) {
            Act::Result(result) => finish(result),
            Act::Error(code, message) => say(&json!({
                "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message },
            })),
            Act::SayFirst(messages, end) => {
                messages.iter().for_each(say);
                finish(text(end));
            }
            Act::Ask(params) => {
                let answer = self.ask(&params);
                finish(text(&answer.to_string()));
            }
            Act::Hang => {}
            Act::Wait(pipe) => {
                let mut line = String::new();
                let pipe = File::open(pipe).expect("the pipe is there");
                io::BufReader::new(pipe)
                    .read_line(&mut line)
                    .expect("a pipe can be read");
                finish(text(&line));
            }
            Act::Crash => std::process::exit(3),
            Act::Garbage => {
                say_bytes(b"this is not json\n{\"half\":\n[]\n\xff\xfe\n");
                finish(text("after the garbage"));
            }
            Act::Huge => say_bytes(&vec![b'x'; 33 << 20]),
            Act::Flood => {
                for number in 0..20_000 {
                    say(
                        &json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {
                        "level": "info", "data": "x".repeat(200), "number": number,
                    } }),
                    );
                    say(&json!({ "jsonrpc": "2.0", "id": format!("p{number}"), "method": "ping" }));
                }
                finish(text("after the flood"));
            }
            Act::Family => {
                let child = child();
                finish(text(&format!("{} {child}", std::process::id())));
            }
            Act::Grow => {
                self.grown = true;
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                finish(text("grown"));
            }
            Act::Deaf => rest(),
        }
    }

    /// Asks the client something; what it answers, or `cancelled` if the call is cancelled first.
    fn ask(&mut self, params: &Value) -> Value {
        self.asked += 1;
        let id = json!(format!("q{}", self.asked));
        say(
            &json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params }),
        );
        loop {
            let message = self.read();
            if message["id"] == id {
                return message.get("result").unwrap_or(&message["error"]).clone();
            }
            if message["method"] == "notifications/cancelled" {
                return json!("cancelled");
            }
        }
    }
}

fn rest() -> ! {
    loop {
        std::thread::park_timeout(Duration::from_secs(1000));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a scripted server starts processes like any other program"
)]
fn child() -> u32 {
    let child = std::process::Command::new("sleep").arg("1000").spawn();
    child.expect("sleep can be started").id()
}

fn say(message: &Value) {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    say_bytes(&line);
}

/// A client that does not listen any more ends the process.
fn say_bytes(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}
