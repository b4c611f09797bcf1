//! Keys that mean nothing here: most often a slip of the pen, so the nearest known key is offered.

use serde_json::Value;

use super::{Kind, ROOT, Section};
use crate::Table;
use crate::document::Step;
use crate::features::{ALIASES, Feature};

/// More unknown keys than this in one file are not reported one by one.
const MAX_REPORTED: usize = 20;

/// A key that means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// Its dotted path.
    pub path: String,
    /// The way to it.
    pub steps: Vec<Step>,
    /// A known key of similar spelling.
    pub nearest: Option<&'static str>,
}

/// The unknown keys of a configuration file.
pub fn unknown_keys(table: &Table) -> Vec<UnknownKey> {
    let mut search = Search::default();
    search.table(&ROOT, table);
    search.found
}

#[derive(Default)]
struct Search {
    steps: Vec<Step>,
    found: Vec<UnknownKey>,
}

impl Search {
    fn table(&mut self, section: &Section, table: &Table) {
        for (name, value) in table {
            self.steps.push(Step::Key(name.clone()));
            match section.kind(name) {
                None => self.report(name, section.keys.iter().map(|key| key.name)),
                Some(kind) => self.value(kind, value),
            }
            self.steps.pop();
        }
    }

    fn value(&mut self, kind: &Kind, value: &Value) {
        match (kind, value) {
            (Kind::Table(section), Value::Object(table)) => self.table(section, table),
            (Kind::Switches, Value::Object(table)) => self.switches(table),
            (Kind::Map(kind, _), Value::Object(table)) => {
                for (name, value) in table {
                    self.steps.push(Step::Key(name.clone()));
                    self.value(kind, value);
                    self.steps.pop();
                }
            }
            (Kind::List(kind), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.steps.push(Step::Index(index));
                    self.value(kind, item);
                    self.steps.pop();
                }
            }
            (Kind::AnyOf(_, kinds), Value::Object(_)) => {
                if let Some(kind) = kinds.iter().find(|kind| matches!(kind, Kind::Table(_))) {
                    self.value(kind, value);
                }
            }
            _ => {}
        }
    }

    fn switches(&mut self, table: &Table) {
        for name in table.keys().filter(|name| Feature::named(name).is_none()) {
            let features = Feature::ALL.iter().map(|feature| feature.name());
            self.steps.push(Step::Key(name.clone()));
            self.report(
                name,
                features.chain(ALIASES.iter().map(|(alias, _)| *alias)),
            );
            self.steps.pop();
        }
    }

    fn report(&mut self, name: &str, known: impl Iterator<Item = &'static str>) {
        if self.found.len() >= MAX_REPORTED {
            return;
        }
        let path: Vec<String> = self
            .steps
            .iter()
            .map(|step| match step {
                Step::Key(key) => key.clone(),
                Step::Index(index) => index.to_string(),
            })
            .collect();
        self.found.push(UnknownKey {
            path: path.join("."),
            steps: self.steps.clone(),
            nearest: nearest(name, known),
        });
    }
}

/// The known name that differs least, if it differs little: one letter in three.
fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let limit = (name.chars().count() / 3).max(1);
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters to insert, delete, replace or swap with their neighbour to get from one word to the
/// other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replace = above[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_recognised() {
        for (text, expected) in [
            ("modle = \"x\"", ("modle", Some("model"))),
            (
                "aproval_policy = \"never\"",
                ("aproval_policy", Some("approval_policy")),
            ),
            (
                "[features]\nweb_serach = true",
                ("features.web_serach", Some("web_search")),
            ),
            (
                "[mcp_servers.x]\ncommand = \"c\"\nagrs = []",
                ("mcp_servers.x.agrs", Some("args")),
            ),
            (
                "[profiles.p]\nmodell = \"x\"",
                ("profiles.p.modell", Some("model")),
            ),
            (
                "[[skills.config]]\nnaem = \"x\"\nenabled = true",
                ("skills.config.0.naem", Some("name")),
            ),
            ("something_else = 1", ("something_else", None)),
        ] {
            let table = crate::document::parse(text).unwrap();
            let found = unknown_keys(&table);
            let [one] = found.as_slice() else {
                panic!("{text}: {found:?}")
            };
            assert_eq!((one.path.as_str(), one.nearest), expected);
        }
    }

    #[test]
    fn names_chosen_by_users_are_not_unknown() {
        let text = "[apps.mine]\nenabled = true\n[agents.helper]\ndescription = \"d\"\n\
                    [shell_environment_policy.set]\nMY_VAR = \"x\"\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
        assert_eq!(unknown_keys(&crate::document::parse(text).unwrap()), []);
    }
}
