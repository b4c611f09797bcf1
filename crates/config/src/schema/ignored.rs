//! Keys that are set and do nothing: unknown ones, most often misspelt, for which the nearest known key is
//! suggested, and known ones that have no effect here.

use serde_json::Value;

use super::{Effect, Kind, Section};
use crate::Table;
use crate::document::Step;
use crate::features::{ALIASES, Feature, Stage};

/// More keys than this in one file are not reported one by one.
const MAX_REPORTED: usize = 20;

/// A key that does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredKey {
    /// Its dotted path.
    pub path: String,
    /// The way to it.
    pub steps: Vec<Step>,
    /// Why it does nothing.
    pub why: Why,
}

/// Why a key does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is not known; a known key may have a similar spelling.
    Unknown {
        /// That key.
        nearest: Option<&'static str>,
    },
    /// It is known and has no effect here.
    NoEffect,
}

/// The keys of a file that do nothing. Keys of the official terminal interface are not among them.
pub fn ignored_keys(section: &Section, table: &Table) -> Vec<IgnoredKey> {
    let mut search = Search::default();
    search.table(section, table);
    search.found
}

#[derive(Default)]
struct Search {
    steps: Vec<Step>,
    found: Vec<IgnoredKey>,
}

impl Search {
    fn table(&mut self, section: &Section, table: &Table) {
        for (name, value) in table {
            self.steps.push(Step::Key(name.clone()));
            let effect = section.key(name).map(|key| key.effect);
            match (section.kind(name), effect) {
                (None, _) => self.unknown(name, section.keys.iter().map(|key| key.name)),
                (Some(_), Some(Effect::Nothing)) => self.report(Why::NoEffect),
                (Some(kind), _) => self.value(kind, value),
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

    /// A feature without effect is reported only where it is switched on: off is what it is. One that was removed
    /// is reported only where it is to be other than it is now.
    fn switches(&mut self, table: &Table) {
        for (name, value) in table {
            self.steps.push(Step::Key(name.clone()));
            let feature = Feature::named(name);
            match feature.map(Feature::stage) {
                None => {
                    let features = Feature::ALL.iter().map(|feature| feature.name());
                    let aliases = ALIASES.iter().map(|(alias, _)| *alias);
                    self.unknown(name, features.chain(aliases));
                }
                Some(Stage::NoEffect) if *value == Value::Bool(true) => self.report(Why::NoEffect),
                Some(Stage::Removed)
                    if value.as_bool() != feature.map(Feature::default_enabled) =>
                {
                    self.report(Why::NoEffect);
                }
                Some(_) => {}
            }
            self.steps.pop();
        }
    }

    fn unknown(&mut self, name: &str, known: impl Iterator<Item = &'static str>) {
        let nearest = nearest(name, known);
        self.report(Why::Unknown { nearest });
    }

    fn report(&mut self, why: Why) {
        if self.found.len() >= MAX_REPORTED {
            return;
        }
        let steps = self.steps.iter().map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(index) => index.to_string(),
        });
        let path: Vec<String> = steps.collect();
        self.found.push(IgnoredKey {
            path: path.join("."),
            steps: self.steps.clone(),
            why,
        });
    }
}

/// The known name that differs least, if it differs little: one letter in three.
pub fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
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
    use super::super::ROOT;
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
            let found = ignored_keys(&ROOT, &table);
            let [one] = found.as_slice() else {
                panic!("{text}: {found:?}")
            };
            let (path, nearest) = expected;
            assert_eq!(
                (one.path.as_str(), one.why),
                (path, Why::Unknown { nearest })
            );
        }
    }

    #[test]
    fn names_chosen_by_users_are_not_unknown() {
        let text = "[agents.helper]\ndescription = \"d\"\n\
                    [shell_environment_policy.set]\nMY_VAR = \"x\"\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
        let table = crate::document::parse(text).unwrap();
        assert_eq!(ignored_keys(&ROOT, &table), []);
    }

    #[test]
    fn keys_without_effect_are_reported_once_with_their_table() {
        let text = "zsh_path = \"/bin/zsh\"\n[memories]\nuse_memories = true\nmax_unused_days = 3\n\
                    [features]\njs_repl = true\nundo = false\nshell_tool = true\nsteer = true\nsqlite = false\n\
                    [tui]\ntheme = \"dark\"\n[history]\npersistence = \"none\"\n\
                    [profiles.p]\nzsh_path = \"/bin/zsh\"\n";
        let table = crate::document::parse(text).unwrap();
        let mut found: Vec<_> = ignored_keys(&ROOT, &table)
            .into_iter()
            .map(|key| (key.path, key.why))
            .collect();
        found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let expected = [
            "features.js_repl",
            "features.sqlite",
            "memories",
            "profiles.p.zsh_path",
            "zsh_path",
        ];
        assert_eq!(found, expected.map(|path| (path.to_owned(), Why::NoEffect)));
    }
}
