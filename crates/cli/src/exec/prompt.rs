//! Where the prompt of a run comes from: the command line, standard input, or both.

use std::io::{IsTerminal as _, Read as _};

/// More than any model reads; a pipe that never ends must not fill the memory.
const LIMIT: u64 = 64 << 20;

/// The prompt of a new run. What is piped in beside a given prompt is appended to it.
pub fn new_run(given: Option<String>) -> Result<String, String> {
    let Some(prompt) = given.filter(|prompt| prompt != "-") else {
        return from_stdin();
    };
    if std::io::stdin().is_terminal() {
        return Ok(prompt);
    }
    eprintln!("Reading additional input from stdin...");
    let piped = read()?;
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

fn read() -> Result<String, String> {
    let mut text = Vec::new();
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
