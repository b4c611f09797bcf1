//! YAML that others wrote. The time its reader takes grows with the length times the depth of what it reads, so
//! both have a limit.

use serde::de::DeserializeOwned;

/// The longest text that is read.
const MAX_BYTES: usize = 64 * 1024;
/// How deep brackets and braces may nest.
const MAX_DEPTH: usize = 64;

/// Why a text cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum YamlError {
    #[error("it has more than {MAX_BYTES} bytes")]
    TooLong,
    #[error("it is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error(transparent)]
    Syntax(#[from] serde_yaml_ng::Error),
}

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    if text.len() > MAX_BYTES {
        return Err(YamlError::TooLong);
    }
    // Those in quotes count too: no text for people has so many that are never closed.
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(YamlError::TooDeep);
        }
    }
    Ok(serde_yaml_ng::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_yaml_ng::Value;

    use super::*;

    #[test]
    fn length_and_depth_have_a_limit() {
        let nested = |levels| format!("a: {}1{}", "[".repeat(levels), "]".repeat(levels));
        parse::<Value>(&nested(MAX_DEPTH)).unwrap();
        for text in [nested(MAX_DEPTH + 1), "{".repeat(30_000)] {
            assert!(matches!(parse::<Value>(&text), Err(YamlError::TooDeep)));
        }
        let long = "a\n".repeat(40_000);
        assert!(matches!(parse::<Value>(&long), Err(YamlError::TooLong)));
    }

    #[test]
    fn no_repetition_takes_long() {
        let units = [
            "[],",
            "{},",
            "{a: b},",
            "[{",
            "- ",
            "? ",
            "a: ",
            "&a ",
            "*a ",
            "!!x ",
            "\n",
            "\t",
            "'",
            "\"",
            "# ",
            "#\n",
            "|\n ",
            ">\n",
            "a:\n",
            "- a\n",
            "a: &a b\n",
            "<<: *a\n",
            "--- ",
            "---\n",
            "...\n",
            "%a\n",
            "\\",
            ": ",
            ", ",
            "? a\n: b\n",
            "x\n ",
            "\u{feff}",
            "a: {b: [c, d]}\n",
        ];
        for unit in units {
            for head in ["", "a: ", "a: \"", "a: [", "a: |\n "] {
                let text = format!("{head}{}", unit.repeat((MAX_BYTES - 10) / unit.len()));
                let begun = Instant::now();
                parse::<Value>(&text).ok();
                let took = begun.elapsed();
                assert!(took < Duration::from_secs(2), "{head:?} {unit:?}: {took:?}");
            }
        }
    }
}
