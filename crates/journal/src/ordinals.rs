//! The numbers of the lines of a paginated rollout. The official program refuses to go on with a file whose
//! last line has none, so every line that is added gets one above all before it. Lines of programs that write
//! none, and lines that were not written to their end, are passed over.

use std::io;

use serde::Deserialize;

use crate::backend::RolloutSource;
use crate::lines::MAX_RECORD;

/// Larger numbers are nobody's count of lines.
const MAX: u64 = 1 << 53;
/// What every line that this crate writes begins with: the timestamp.
const STAMPED: usize = "{\"timestamp\":\"2026-11-15T07:05:35.648Z\",".len();
/// The most that numbering adds to a line.
pub(crate) const ROOM: usize = "\"ordinal\":9007199254740992,".len();
/// Enough of a line to see its number.
const HEAD: usize = 128;
const BLOCK: usize = 4 << 10;

/// Numbers lines that were written by [`Record::encode`](crate::Record); also the next free number.
pub(crate) fn number(lines: &[u8], mut next: u64) -> (Vec<u8>, u64) {
    let mut numbered = Vec::with_capacity(lines.len() + lines.len() / 8);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let (stamp, rest) = line.split_at(STAMPED);
        numbered.extend_from_slice(stamp);
        numbered.extend_from_slice(format!("\"ordinal\":{next},").as_bytes());
        numbered.extend_from_slice(rest);
        next += 1;
    }
    (numbered, next)
}

/// The number of the last numbered line in the first `len` bytes of a file.
pub fn last(file: &dyn RolloutSource, len: u64) -> io::Result<Option<u64>> {
    let mut end = len;
    while end > 0 {
        let start = line_start(file, end)?;
        if let Some(ordinal) = of_line(file, start, end)? {
            return Ok(Some(ordinal));
        }
        end = start.saturating_sub(1);
    }
    Ok(None)
}

/// Where the line that ends before `end` begins.
fn line_start(file: &dyn RolloutSource, end: u64) -> io::Result<u64> {
    let mut block = [0; BLOCK];
    let mut end = end;
    loop {
        let count = end.min(BLOCK as u64);
        let block = &mut block[..count as usize];
        file.read_exact_at(block, end - count)?;
        if let Some(newline) = memchr::memrchr(b'\n', block) {
            return Ok(end - count + newline as u64 + 1);
        }
        end -= count;
        if end == 0 {
            return Ok(0);
        }
    }
}

fn of_line(file: &dyn RolloutSource, start: u64, end: u64) -> io::Result<Option<u64>> {
    #[derive(Deserialize)]
    struct Numbered {
        ordinal: u64,
    }
    let len = usize::try_from(end - start).unwrap_or(usize::MAX);
    let mut line = vec![0; len.min(HEAD)];
    file.read_exact_at(&mut line, start)?;
    let ordinal = match of_head(&line) {
        Some(found) => found,
        None if len > MAX_RECORD => None,
        None => {
            line.resize(len, 0);
            file.read_exact_at(&mut line, start)?;
            let parsed = serde_json::from_slice::<Numbered>(&line);
            parsed.ok().map(|line| line.ordinal)
        }
    };
    Ok(ordinal.filter(|ordinal| *ordinal < MAX))
}

/// The number of a line in the form that programs write; nothing if it has another form.
fn of_head(line: &[u8]) -> Option<Option<u64>> {
    let rest = line.strip_prefix(b"{\"timestamp\":\"")?;
    let rest = &rest[memchr::memchr(b'"', rest)? + 1..];
    if rest.starts_with(b",\"type\":\"") {
        return Some(None);
    }
    let rest = rest.strip_prefix(b",\"ordinal\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if rest.get(digits) != Some(&b',') {
        return None;
    }
    Some(str::from_utf8(&rest[..digits]).ok()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn last_of(bytes: &[u8]) -> Option<u64> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        last(&file, bytes.len() as u64).unwrap()
    }

    #[test]
    fn the_last_number_is_found_behind_what_has_none() {
        let line = |start: &str| {
            format!("{{\"timestamp\":\"t\",{start}\"type\":\"x\",\"payload\":{{}}}}\n")
        };
        let (numbered, bare) = (line("\"ordinal\":41,"), line(""));
        assert_eq!(last_of(b""), None);
        assert_eq!(last_of(b"\n\n"), None);
        assert_eq!(last_of(bare.as_bytes()), None);
        assert_eq!(last_of(numbered.as_bytes()), Some(41));
        assert_eq!(last_of(numbered.trim_end().as_bytes()), Some(41));
        let much = "x".repeat(3 * BLOCK);
        for tail in [
            bare.repeat(500),
            format!("{much}\n"),
            much.clone(),
            "{\"timestamp\":\"t\",\"ordinal\":99".into(),
            "{\"timestamp\":\"t\",\"ordinal\":18446744073709551615,\"type\":\"x\"}\n".into(),
            "\n".into(),
        ] {
            assert_eq!(
                last_of(format!("{numbered}{tail}").as_bytes()),
                Some(41),
                "{tail}"
            );
        }
        let other = format!("{{\"payload\":\"{much}\", \"ordinal\": 42}}\n");
        assert_eq!(
            last_of(format!("{numbered}{other}{bare}").as_bytes()),
            Some(42)
        );
    }
}
