//! The crate map of `ARCHITECTURE.md`, read as data: the page people consult is itself the rule
//! that says which crate may use which, so the two cannot drift apart.

/// Where the map stands.
pub const PATH: &str = "ARCHITECTURE.md";

const HEADING: &str = "## Crate map";

/// One row of the map.
#[derive(Debug)]
pub struct Row {
    /// The crate's directory.
    pub directory: String,
    /// The crates it may depend on.
    pub may_use: MayUse,
    /// Where the row stands, counted from 1.
    pub line: usize,
}

/// The last column of the map.
#[derive(Debug, PartialEq, Eq)]
pub enum MayUse {
    /// `everything`.
    Everything,
    /// The directories named; none for `—`.
    Only(Vec<String>),
}

impl MayUse {
    /// Whether `directory` is named explicitly.
    pub fn names(&self, directory: &str) -> bool {
        matches!(self, MayUse::Only(directories) if directories.iter().any(|f| f == directory))
    }
}

/// The rows between the map's heading and the next one of any depth.
pub fn parse(text: &str) -> Vec<Row> {
    text.lines()
        .enumerate()
        .skip_while(|(_, line)| *line != HEADING)
        .skip(1)
        .take_while(|(_, line)| !line.starts_with("##"))
        .filter_map(|(at, line)| row(line, at + 1))
        .collect()
}

fn row(line: &str, line_number: usize) -> Option<Row> {
    let cells: Vec<&str> = line
        .strip_prefix('|')?
        .strip_suffix('|')?
        .split('|')
        .collect();
    let [name, _charter, may_use] = cells.as_slice() else {
        return None;
    };
    let directory = code_spans(name).into_iter().next()?;
    let may_use = match may_use.trim() {
        "everything" => MayUse::Everything,
        _ => MayUse::Only(code_spans(may_use)),
    };
    Some(Row {
        directory,
        may_use,
        line: line_number,
    })
}

/// What stands between backticks.
fn code_spans(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_the_map() {
        let rows = parse(
            "\
| `before` | x | — |
## Crate map
| crate | charter | may use |
|---|---|---|
| `a` | Speaks `b`. | — |
| `c` | c | `a`, `b` |
| `d` | d | everything |
### Later
| `after` | x | — |
",
        );
        assert_eq!(rows.len(), 3);
        assert_eq!((rows[0].directory.as_str(), rows[0].line), ("a", 5));
        assert_eq!(rows[0].may_use, MayUse::Only(vec![]));
        assert!(rows[1].may_use.names("b"));
        assert_eq!(rows[2].may_use, MayUse::Everything);
    }
}
