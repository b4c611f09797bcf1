//! A client that keeps a log of everything said in both directions, in order. The log is what the laws
//! are checked on.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use quipu_rpc::{Incoming, Reader, Writer};
use quipu_testkit::client::PATIENCE;
use quipu_testkit::process::ServerProcess;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::moment::AFTER;

pub type Tried<T> = Result<T, String>;

/// One message.
#[derive(Debug, Clone)]
pub struct Entry {
    pub from_server: bool,
    pub message: Value,
}

impl Entry {
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    /// A request of either side.
    pub fn is_request(&self) -> bool {
        !self.message["id"].is_null() && !self.method().is_empty()
    }

    /// An answer of either side.
    pub fn is_answer(&self) -> bool {
        !self.message["id"].is_null() && self.method().is_empty()
    }

    pub fn turn(&self) -> &str {
        let params = &self.message["params"];
        let named = params["turnId"].as_str().or(params["turn"]["id"].as_str());
        named.unwrap_or_default()
    }
}

/// What was said on one connection.
#[derive(Default)]
struct Log {
    entries: Vec<Entry>,
    closed: bool,
}

enum Sending {
    Lines(ChildStdin),
    Socket(Box<Writer>),
    Ended,
}

enum Receiving {
    Lines(BufReader<ChildStdout>),
    Socket(Box<Reader>),
}

/// One connection.
pub struct Wire {
    log: Arc<Mutex<Log>>,
    heard: watch::Receiver<usize>,
    reads: watch::Sender<bool>,
    sending: Sending,
    reading: JoinHandle<()>,
    asked: i64,
}

impl Wire {
    /// The owner of the process.
    pub async fn stdio(process: &mut ServerProcess) -> Tried<Wire> {
        let stdin = process.stdin.take().ok_or("standard input is taken")?;
        let stdout = process.stdout.take().ok_or("standard output is taken")?;
        let receiving = Receiving::Lines(BufReader::new(stdout));
        Wire::start(Sending::Lines(stdin), receiving).await
    }

    /// A client on a websocket.
    pub async fn socket(process: &mut ServerProcess) -> Tried<Wire> {
        let connection = process.websocket(&[]).await;
        let receiving = Receiving::Socket(Box::new(connection.reader));
        Wire::start(Sending::Socket(Box::new(connection.writer)), receiving).await
    }

    async fn start(sending: Sending, receiving: Receiving) -> Tried<Wire> {
        let log = Arc::new(Mutex::new(Log::default()));
        let (tell, heard) = watch::channel(0);
        let (reads, may_read) = watch::channel(true);
        let reading = tokio::spawn(read(receiving, Arc::clone(&log), tell, may_read));
        let mut wire = Wire {
            log,
            heard,
            reads,
            sending,
            reading,
            asked: 0,
        };
        let hello = json!({
            "clientInfo": { "name": "faults", "version": "1.0" },
            "capabilities": { "experimentalApi": true },
        });
        wire.call("initialize", hello).await?;
        Ok(wire)
    }

    /// Whether the client reads.
    pub fn set_reading(&self, reads: bool) {
        self.reads.send_replace(reads);
    }

    /// What was said so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.log.lock().entries.clone()
    }

    /// Whether something went wrong since a position, as far as the server tells; or did not happen.
    pub fn tells_of_failure(&self, from: usize, has_command: bool) -> bool {
        let log = self.log.lock();
        let messages = log.entries.iter().skip(from).filter(|it| it.from_server);
        let is_bad = |status: &Value| status.as_str().is_some_and(|it| it != "completed");
        let mut command = false;
        for entry in messages {
            let params = &entry.message["params"];
            let failed = match entry.method() {
                "turn/completed" => is_bad(&params["turn"]["status"]),
                "item/completed" => is_bad(&params["item"]["status"]),
                "" => !entry.message["error"].is_null(),
                method => method == "error",
            };
            if failed {
                return true;
            }
            command |= params["item"]["aggregatedOutput"]
                .as_str()
                .is_some_and(|it| it.contains(AFTER));
        }
        has_command && !command
    }

    /// How much was said so far; waits can begin there.
    pub fn position(&self) -> usize {
        self.log.lock().entries.len()
    }

    /// Sends a message; a server that is gone does not matter here.
    pub async fn send(&mut self, message: Value) {
        let text = message.to_string();
        self.log.lock().entries.push(Entry {
            from_server: false,
            message,
        });
        match &mut self.sending {
            Sending::Lines(_) => self.send_bytes(format!("{text}\n").as_bytes()).await,
            Sending::Socket(writer) => drop(writer.write([Bytes::from(text)]).await),
            Sending::Ended => {}
        }
    }

    /// Sends bytes that are no message, or not a whole one. They are not in the log.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        if let Sending::Lines(stdin) = &mut self.sending {
            drop(stdin.write_all(bytes).await);
            drop(stdin.flush().await);
        }
    }

    /// Asks without waiting; the id of the request.
    pub async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        let id = self.asked;
        let message = json!({ "id": id, "method": method, "params": params });
        self.send(message).await;
        id
    }

    /// The same in two pieces.
    pub async fn ask_in_pieces(&mut self, method: &str) -> i64 {
        self.asked += 1;
        let id = self.asked;
        let message = json!({ "id": id, "method": method, "params": {} });
        let text = format!("{message}\n");
        let (first, second) = text.as_bytes().split_at(text.len() / 2);
        self.log.lock().entries.push(Entry {
            from_server: false,
            message,
        });
        self.send_bytes(first).await;
        tokio::task::yield_now().await;
        self.send_bytes(second).await;
        id
    }

    /// Asks for a file, without reading and without an end, until the server hangs up.
    pub async fn flood(&mut self, file: &Path) -> Tried<()> {
        let Sending::Socket(writer) = &mut self.sending else {
            return Err("only a socket is closed to a client that does not read".to_owned());
        };
        let params = json!({ "path": file });
        let question = json!({ "id": "flood", "method": "fs/readFile", "params": params });
        let question = Bytes::from(question.to_string());
        let flood = async { while writer.write([question.clone()]).await.is_ok() {} };
        let ended = tokio::time::timeout(PATIENCE, flood).await;
        ended.map_err(|_| "a client that does not read is not disconnected".to_owned())
    }

    /// The answer to a request.
    pub async fn answered(&mut self, id: i64) -> Tried<Value> {
        let is_answer = |entry: &Entry| entry.is_answer() && entry.message["id"] == id;
        Ok(self.see("an answer", 0, is_answer).await?.message)
    }

    /// Asks for something that must work.
    pub async fn call(&mut self, method: &str, params: Value) -> Tried<Value> {
        let id = self.ask(method, params).await;
        let mut answer = self.answered(id).await?;
        match answer.get("error") {
            Some(error) => Err(format!("{method} was refused: {error}")),
            None => Ok(answer["result"].take()),
        }
    }

    /// The first message of the server that fits, from a position on; an error at the end of the
    /// connection or of patience.
    pub async fn see(
        &mut self,
        what: &str,
        from: usize,
        fits: impl Fn(&Entry) -> bool,
    ) -> Tried<Entry> {
        let (log, mut heard) = (Arc::clone(&self.log), self.heard.clone());
        let mut from = from;
        let look = async {
            loop {
                heard.borrow_and_update();
                {
                    let log = log.lock();
                    let new = log.entries.iter().skip(from);
                    if let Some(found) = new.clone().find(|it| it.from_server && fits(it)) {
                        return Ok(found.clone());
                    }
                    if log.closed {
                        return Err(format!("the connection ended before {what}"));
                    }
                    from = log.entries.len();
                }
                // After the end of the reader the log is closed, which is seen above.
                drop(heard.changed().await);
            }
        };
        match tokio::time::timeout(PATIENCE, look).await {
            Ok(found) => found,
            Err(_) => Err(format!("{what} did not come; {}", self.tail())),
        }
    }

    /// The next message of a method from a position on.
    pub async fn method(&mut self, method: &str, from: usize) -> Tried<Entry> {
        self.see(method, from, |it| it.method() == method).await
    }

    /// Says no more, but still listens.
    pub async fn end(&mut self) {
        match std::mem::replace(&mut self.sending, Sending::Ended) {
            Sending::Socket(mut writer) => drop(writer.close(quipu_rpc::CloseCode::NORMAL).await),
            Sending::Lines(_) | Sending::Ended => {}
        }
    }

    /// Everything that is said until the connection ends.
    pub async fn rest(&mut self) -> Tried<()> {
        let (log, mut heard) = (Arc::clone(&self.log), self.heard.clone());
        let closed = async { while !log.lock().closed && heard.changed().await.is_ok() {} };
        let ended = tokio::time::timeout(PATIENCE, closed).await;
        ended.map_err(|_| format!("the connection does not end; {}", self.tail()))
    }

    /// Is gone from one moment to the next.
    pub async fn vanish(&mut self) {
        self.reading.abort();
        self.sending = Sending::Ended;
        self.log.lock().closed = true;
    }

    /// Writes everything that was said to a file.
    pub fn save(&self, path: &Path) {
        let arrow = |entry: &Entry| if entry.from_server { "<" } else { ">" };
        let lines = self.entries().into_iter();
        let lines: String = lines
            .map(|it| format!("{} {}\n", arrow(&it), it.message))
            .collect();
        std::fs::write(path, lines)
            .unwrap_or_else(|error| eprintln!("{}: {error}", path.display()));
    }

    /// The last things said, in a few words.
    pub fn tail(&self) -> String {
        let log = self.log.lock();
        let begin = log.entries.len().saturating_sub(14);
        let brief = |entry: &Entry| match entry.from_server {
            true => quipu_testkit::conversation::brief(&entry.message),
            false => format!("[{}]", quipu_testkit::conversation::brief(&entry.message)),
        };
        let said: Vec<String> = log.entries[begin..].iter().map(brief).collect();
        format!("said last: {}", said.join(", "))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// Reads to the end, while it may.
async fn read(
    mut receiving: Receiving,
    log: Arc<Mutex<Log>>,
    tell: watch::Sender<usize>,
    mut may_read: watch::Receiver<bool>,
) {
    while may_read.wait_for(|reads| *reads).await.is_ok() {
        let Some(text) = next(&mut receiving).await else {
            break;
        };
        let message = serde_json::from_str(&text).unwrap_or_else(|_| json!({ "unreadable": text }));
        log.lock().entries.push(Entry {
            from_server: true,
            message,
        });
        tell.send_modify(|count| *count += 1);
    }
    log.lock().closed = true;
    tell.send_modify(|count| *count += 1);
}

async fn next(receiving: &mut Receiving) -> Option<String> {
    match receiving {
        Receiving::Lines(lines) => {
            let mut line = Vec::new();
            let read = lines.read_until(b'\n', &mut line).await;
            // What is not a whole line was not said.
            let is_whole = read.is_ok() && line.last() == Some(&b'\n');
            is_whole.then(|| String::from_utf8_lossy(&line).into_owned())
        }
        Receiving::Socket(reader) => match reader.next().await {
            Ok(Some(Incoming::Message(message))) => {
                Some(String::from_utf8_lossy(&message).into_owned())
            }
            _ => None,
        },
    }
}
