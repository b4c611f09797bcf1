//! What a run leaves: a text, a drawing, and a file that says which kind of run it was, so that all of it
//! can be shown again without measuring.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::chart;
use crate::curves::Growth;
use crate::plot::plot;
use crate::report::Report;
use crate::soak::Soaks;
use crate::store::Stores;

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Outcome {
    Table(Report),
    Soak(Soaks),
    Mixed(Soaks),
    Curves(Growth),
    Store(Stores),
}

impl Outcome {
    /// An outcome that was written as JSON.
    pub fn parse(json: &str) -> Result<Outcome> {
        Ok(serde_json::from_str(json)?)
    }

    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// For people, in Markdown.
    pub fn text(&self) -> String {
        match self {
            Outcome::Table(report) => report.table(),
            Outcome::Soak(soaks) | Outcome::Mixed(soaks) => soaks.table(),
            Outcome::Curves(growth) => growth.table(),
            Outcome::Store(stores) => stores.table(),
        }
    }

    /// The page with this text in the place of the one that it has.
    pub fn put_on(&self, page: &str) -> Result<String> {
        let mark = match self {
            Outcome::Table(_) => "<!-- table -->\n",
            Outcome::Soak(_) => "<!-- soak -->\n",
            Outcome::Mixed(_) => "<!-- mixed -->\n",
            Outcome::Curves(_) => "<!-- curves -->\n",
            Outcome::Store(_) => "<!-- store -->\n",
        };
        let Some((before, after)) = page.split_once(mark) else {
            return Err(format!("the page has no line {mark}").into());
        };
        let lines = after.split_inclusive('\n');
        let old: usize = lines
            .take_while(|it| it.starts_with('|'))
            .map(str::len)
            .sum();
        Ok([before, mark, &self.text(), &after[old..]].concat())
    }

    pub fn svg(&self) -> Result<String> {
        Ok(match self {
            Outcome::Table(report) => chart::chart(report)?,
            Outcome::Soak(soaks) => plot("50 threads at work", &soaks.panels()),
            Outcome::Mixed(soaks) => plot("Work of all kinds", &soaks.panels()),
            Outcome::Curves(growth) => plot("Cost against size", &growth.panels()),
            Outcome::Store(stores) => plot("Threads in PostgreSQL", &stores.panels()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_drawings_show_the_committed_results() {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        let names: Vec<String> = std::fs::read_dir(root.join("bench-results"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
            .collect();
        assert!(names.iter().any(|it| it == "table"), "{names:?}");
        for name in names {
            let file = format!("bench-results/{name}");
            let outcome = Outcome::parse(&read(&format!("{file}.json"))).unwrap();
            assert!(
                outcome.svg().unwrap() == read(&format!("{file}.svg")),
                "renew it: cargo run -p quipu-bench -- --from {file}.json --svg {file}.svg"
            );
            let path = match outcome {
                Outcome::Store(_) => "docs/scale.md",
                _ => "docs/performance.md",
            };
            let page = read(path);
            assert!(
                outcome.put_on(&page).unwrap() == page,
                "renew it: cargo run -p quipu-bench -- --from {file}.json --page {path}"
            );
            let again = Outcome::parse(&outcome.json().unwrap()).unwrap();
            assert_eq!(again.text(), outcome.text());
        }
    }
}
