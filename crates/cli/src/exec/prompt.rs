//! Where the prompt of a run comes from: the command line, standard input, or both.

use std::io::{IsTerminal as _, Read as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// More than any model reads; a pipe that never ends must not fill the memory.
const LIMIT: u64 = 64 << 20;

/// How long input that comes in addition to a prompt may take to begin.
const FIRST_BYTE: Duration = Duration::from_secs(5);

/// The prompt of a new run. Piped input is appended to a prompt that is given as an argument. Many programs
/// start others with a pipe that they neither write to nor close, so input that does not begin in time is
/// not waited for; once it has begun, it is read to its end.
pub fn new_run(given: Option<String>) -> Result<String, String> {
    let Some(prompt) = given.filter(|prompt| prompt != "-") else {
        return from_stdin();
    };
    if std::io::stdin().is_terminal() {
        return Ok(prompt);
    }
    eprintln!("Reading additional input from stdin...");
    let Some(piped) = begun_within(FIRST_BYTE)? else {
        eprintln!(
            "warning: stdin is open, but nothing arrived within {} seconds; continuing without it",
            FIRST_BYTE.as_secs()
        );
        return Ok(prompt);
    };
    if piped.trim().is_empty() {
        return Ok(prompt);
    }
    let end = if piped.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{prompt}\n\n<stdin>\n{piped}{end}</stdin>"))
}

/// The prompt of a run that goes on.
pub fn next_run(given: Option<String>) -> Result<String, String> {
    match given.filter(|prompt| prompt != "-") {
        Some(prompt) => Ok(prompt),
        None => from_stdin(),
    }
}

fn from_stdin() -> Result<String, String> {
    if std::io::stdin().is_terminal() {
        return Err(
            "No prompt provided. Either specify one as an argument or pipe the prompt into stdin."
                .into(),
        );
    }
    eprintln!("Reading prompt from stdin...");
    let prompt = read()?;
    if prompt.trim().is_empty() {
        return Err("No prompt provided via stdin.".into());
    }
    Ok(prompt)
}

/// Standard input, unless its first byte or its end takes too long. The thread that waits for it is left to
/// itself then, and ends with the process.
fn begun_within(limit: Duration) -> Result<Option<String>, String> {
    let (begun, beginning) = channel();
    let reader = std::thread::Builder::new()
        .spawn(move || read_announced(&begun))
        .map_err(|error| format!("Failed to read prompt from stdin: {error}"))?;
    match beginning.recv_timeout(limit) {
        Err(RecvTimeoutError::Timeout) => Ok(None),
        // Begun, or ended without a byte.
        Ok(()) | Err(RecvTimeoutError::Disconnected) => match reader.join() {
            Ok(read) => read.map(Some),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    }
}

/// Reads everything, and says when the first byte is there.
fn read_announced(begun: &Sender<()>) -> Result<String, String> {
    let mut first = [0];
    match std::io::stdin().lock().read(&mut first) {
        Ok(0) => return Ok(String::new()),
        // Nobody waits any more if it took too long.
        Ok(_) => begun.send(()).unwrap_or_default(),
        Err(error) => return Err(format!("Failed to read prompt from stdin: {error}")),
    }
    read_after(&first)
}

fn read() -> Result<String, String> {
    read_after(&[])
}

/// What is left of standard input, after bytes that were taken from it.
fn read_after(taken: &[u8]) -> Result<String, String> {
    let mut text = taken.to_vec();
    let mut input = std::io::stdin().lock().take(LIMIT + 1);
    input
        .read_to_end(&mut text)
        .map_err(|error| format!("Failed to read prompt from stdin: {error}"))?;
    if text.len() as u64 > LIMIT {
        return Err(format!("The prompt from stdin is over {LIMIT} bytes."));
    }
    String::from_utf8(text).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        format!("The prompt from stdin is not valid UTF-8 (invalid byte at offset {place}).")
    })
}
