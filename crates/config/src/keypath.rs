//! Dotted paths to settings, as people write them on the command line and clients in edits.

/// No setting lies deeper. Tables are walked by recursion, so their depth needs a limit.
const MAX_KEYS: usize = 64;

/// A path with more keys than any setting has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key path may have at most {MAX_KEYS} parts")]
pub struct TooManyKeys;

/// Splits a dotted path into its keys.
///
/// A key in quotes may hold dots: `projects."/srv/a.b".trust_level` has three keys. Quotes that do not
/// enclose a whole key are ordinary characters.
pub fn split(path: &str) -> Result<Vec<String>, TooManyKeys> {
    let mut keys = Vec::new();
    let mut rest = path;
    loop {
        if keys.len() == MAX_KEYS {
            return Err(TooManyKeys);
        }
        let (key, tail) = quoted(rest).unwrap_or_else(|| match rest.split_once('.') {
            Some((key, tail)) => (key, Some(tail)),
            None => (rest, None),
        });
        keys.push(key.to_owned());
        match tail {
            Some(tail) => rest = tail,
            None => return Ok(keys),
        }
    }
}

fn quoted(text: &str) -> Option<(&str, Option<&str>)> {
    let quote = text
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''))?;
    let (key, tail) = text[1..].split_once(quote)?;
    match tail.strip_prefix('.') {
        Some(tail) => Some((key, Some(tail))),
        None => tail.is_empty().then_some((key, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_dots_outside_quotes() {
        for (path, expected) in [
            ("model", vec!["model"]),
            ("a.b.c", vec!["a", "b", "c"]),
            (
                "projects.\"/srv/a.b\".trust_level",
                vec!["projects", "/srv/a.b", "trust_level"],
            ),
            ("a.'b.c'", vec!["a", "b.c"]),
            ("\"a.b\"", vec!["a.b"]),
            ("a.", vec!["a", ""]),
            (".a", vec!["", "a"]),
            ("\"a.b", vec!["\"a", "b"]),
            ("\"a\"b.c", vec!["\"a\"b", "c"]),
            ("", vec![""]),
        ] {
            assert_eq!(split(path).unwrap(), expected, "{path}");
        }
    }

    #[test]
    fn a_path_has_a_limited_number_of_keys() {
        let path = |keys| vec!["a"; keys].join(".");
        assert_eq!(split(&path(MAX_KEYS)).unwrap().len(), MAX_KEYS);
        for keys in [MAX_KEYS + 1, 1_000_000] {
            assert_eq!(split(&path(keys)), Err(TooManyKeys));
        }
    }
}
