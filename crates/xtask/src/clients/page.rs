//! The table of a run, as `docs/clients.md` shows it.

use std::fs;
use std::path::Path;

use super::table::Client;
use crate::Outcome;

const PAGE: &str = "docs/clients.md";
const BEGIN: &str = "<!-- The table is written by `cargo xtask clients`. -->\n";
const END: &str = "<!-- End of the table. -->\n";

/// What became of one client.
pub struct Report {
    /// The steps that were tried, the last of them being the one that failed if one did.
    pub steps: Vec<String>,
    pub failure: Option<String>,
}

pub fn table(rows: &[(&Client, Report)]) -> String {
    let mut text = String::from(
        "| client | version | released | reaches the server by | tried | result |\n|---|---|---|---|---|---|\n",
    );
    for (client, report) in rows {
        let result = match &report.failure {
            None => "works".to_owned(),
            Some(why) => format!("fails: {}", one_cell(why)),
        };
        text += &format!(
            "| {} | {} | {} | {} | {} | {result} |\n",
            client.name,
            client.version,
            client.released,
            client.path.text(),
            report.steps.join(", "),
        );
    }
    text
}

/// The first line, without what would end the cell.
fn one_cell(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.replace('|', "\\|").replace('<', "&lt;")
}

/// Replaces the table in the page.
pub fn write(root: &Path, table: &str) -> Outcome {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).map_err(|error| format!("cannot read {PAGE}: {error}"))?;
    let page =
        with_table(&page, table).ok_or_else(|| format!("{PAGE} has no place for the table"))?;
    fs::write(&path, page).map_err(|error| format!("cannot write {PAGE}: {error}"))
}

fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_place_for_the_table() {
        let page = include_str!("../../../../docs/clients.md");
        let once = with_table(page, "| a |\n").unwrap();
        assert!(once.contains("\n| a |\n"));
        assert_eq!(with_table(&once, "| a |\n"), Some(once));
    }

    #[test]
    fn a_failure_stays_in_its_cell() {
        let report = Report {
            steps: vec!["start".to_owned(), "prompt".to_owned()],
            failure: Some("no a|b\nat line 2".to_owned()),
        };
        let text = table(&[(&super::super::table::CLIENTS[0], report)]);
        let row = text.lines().nth(2).unwrap();
        assert!(
            row.ends_with("| start, prompt | fails: no a\\|b |"),
            "{row}"
        );
    }
}
