//! Standard output of a run: the last message, or events. Programs rely on what is there, so a run whose
//! output could not be written has failed.

use std::io::{self, ErrorKind, Write as _};

use super::events::Line;

#[derive(Default)]
pub struct Sink {
    /// Why something is missing there.
    failed: Option<io::Error>,
}

impl Sink {
    pub fn event(&mut self, line: &Line) {
        match serde_json::to_vec(line) {
            Ok(line) => self.line(&line),
            Err(error) => tracing::error!(%error, "failed to write event"),
        }
    }

    pub fn line(&mut self, text: &[u8]) {
        if let Err(error) = write(text) {
            self.failed.get_or_insert(error);
        }
    }

    /// Why something is missing. A reader that closed its end, such as `head`, does not want the rest.
    pub fn failure(&self) -> Option<String> {
        let error = self.failed.as_ref()?;
        let is_closed = error.kind() == ErrorKind::BrokenPipe;
        (!is_closed).then(|| format!("cannot write to standard output: {error}"))
    }
}

fn write(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text)?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}
