//! Logs go to standard error, chosen by `RUST_LOG`; `LOG_FORMAT=json` makes them JSON lines.
//!
//! A thread of its own writes them, from a bounded queue: many clients give the server a pipe for its
//! standard error and never read it, and a full pipe must cost log lines, not the server's life.

use std::io::{self, IsTerminal as _, Write as _, stderr};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::banner;

/// Lines that may wait to be written; more are dropped.
const QUEUE: usize = 1024;
/// How long the last lines may take when the program ends.
const LAST_LINES: Duration = Duration::from_millis(200);

/// The running log.
pub struct Logging {
    lines: SyncSender<Message>,
    is_json: bool,
}

enum Message {
    Line(Vec<u8>),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

impl Logging {
    /// Starts logging for the whole process: errors, but for those of `quiet`, unless `RUST_LOG` says
    /// otherwise.
    pub fn start(quiet: Option<&str>) -> Logging {
        let (sender, receiver) = sync_channel(QUEUE);
        std::thread::spawn(move || write(&receiver));
        let mut filter = EnvFilter::builder()
            .with_default_directive(LevelFilter::ERROR.into())
            .from_env_lossy();
        let quiet = quiet.filter(|_| std::env::var_os(EnvFilter::DEFAULT_ENV).is_none());
        let is_json = std::env::var("LOG_FORMAT")
            .is_ok_and(|format| format.trim().eq_ignore_ascii_case("json"));
        let directives = [(quiet, "off"), (is_json.then_some(banner::TARGET), "info")];
        for (target, level) in directives {
            if let Some(Ok(directive)) = target.map(|it| format!("{it}={level}").parse()) {
                filter = filter.add_directive(directive);
            }
        }
        let lines = sender.clone();
        let builder = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(move || Lines(lines.clone()));
        if is_json {
            builder.json().init();
        } else {
            builder.with_ansi(stderr().is_terminal()).init();
        }
        Logging {
            lines: sender,
            is_json,
        }
    }

    /// Whether lines are JSON objects.
    pub fn is_json(&self) -> bool {
        self.is_json
    }

    /// Waits a moment for what was logged to be written.
    pub fn finish(self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Message::Flush(done)).is_ok() {
            // Whether it was written or time is up, the program ends.
            written.recv_timeout(LAST_LINES).ok();
        }
    }
}

/// Takes one line per write, which is how the formatter writes them.
struct Lines(SyncSender<Message>);

impl io::Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A full queue drops the line, as promised above.
        self.0.try_send(Message::Line(line.to_vec())).ok();
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(messages: &Receiver<Message>) {
    for message in messages {
        match message {
            // There is no place to report that standard error is closed.
            Message::Line(line) => stderr().write_all(&line).unwrap_or_default(),
            Message::Flush(done) => done.send(()).unwrap_or_default(),
        }
    }
}
