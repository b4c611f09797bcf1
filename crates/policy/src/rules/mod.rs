//! Rules files (`*.rules`): what their authors allow, want to be asked about, or forbid.
//!
//! All rules of all files are pooled, and the strictest one that covers a command wins. A file that
//! cannot be read as rules is reported and left out; it never takes the rules of others with it.

mod amend;
mod file;
mod functions;
mod listing;
mod load;
mod network;
mod prefix;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::bash::Command;
use crate::paths::{inside_any, resolve};

pub use amend::{AmendError, DEFAULT_RULES_FILE, append_allow_prefix, append_network_rule};
pub use file::InvalidFile;
pub use load::{LoadedRules, RulesProblem, load};
pub use network::{HostError, NetworkDecision, NetworkProtocol, NetworkRule, normal_host};
pub use prefix::{Decision, PatternError, PrefixRule};
pub use quipu_starlark::Position;

/// The pooled rules of all files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    prefix: Vec<PrefixRule>,
    network: Vec<NetworkRule>,
    /// For a program's name, the only paths that rules for the name cover.
    executables: BTreeMap<String, Vec<String>>,
}

/// A rule that covers a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleMatch {
    /// The words of the command that the rule is about.
    pub prefix: Vec<String>,
    /// What the rule says.
    pub decision: Decision,
    /// Why.
    pub justification: Option<String>,
}

/// Where a command runs, as far as rules care.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The working directory.
    pub cwd: &'a Path,
    /// Directories that sandboxed commands can write to.
    pub writable: &'a [PathBuf],
}

impl Place<'_> {
    /// Whether a sandboxed command could have put this program where it is, or makes the path mean
    /// another one: what is relative depends on a `cd` before it, what is in `/proc` on the process.
    fn can_replace(&self, program: &Path) -> bool {
        let inside = |path: &Path| path.starts_with(self.cwd) || inside_any(path, self.writable);
        let depends = program.starts_with("/proc") || program.starts_with("/dev");
        let goes_up = program
            .components()
            .any(|part| part == Component::ParentDir);
        !program.is_absolute()
            || depends
            || goes_up
            || inside(program)
            || program.canonicalize().is_ok_and(|real| inside(&real))
    }
}

impl Rules {
    /// The rules in the text of one file; `path` is for messages.
    pub fn parse(path: &Path, source: &str) -> Result<Rules, InvalidFile> {
        file::parse(path, source)
    }

    /// Adds the rules of another source.
    pub fn absorb(&mut self, other: Rules) {
        self.prefix.extend(other.prefix);
        self.network.extend(other.network);
        self.executables.extend(other.executables);
    }

    /// Adds one rule about commands.
    pub fn push_prefix(&mut self, rule: PrefixRule) {
        if !self.prefix.contains(&rule) {
            self.prefix.push(rule);
        }
    }

    /// Adds one rule about a host.
    pub fn push_network(&mut self, rule: NetworkRule) {
        if !self.network.contains(&rule) {
            self.network.push(rule);
        }
    }

    /// The strictest rule for a host, if there is one.
    #[must_use]
    pub fn network_decision(
        &self,
        host: &str,
        protocol: NetworkProtocol,
    ) -> Option<NetworkDecision> {
        let host = normal_host(host).ok()?;
        self.network
            .iter()
            .filter(|rule| rule.host == host && rule.protocol == protocol)
            .map(|rule| rule.decision)
            .max()
    }

    /// The rules that cover a command.
    ///
    /// What the shell may still change about the words only ever counts against the command: rules
    /// that restrict look at both readings, and a rule that allows is ignored where a restricting
    /// one might apply after expansion. A program that a sandboxed command may have written is
    /// never allowed by its mere name.
    #[must_use]
    pub fn matches(&self, command: &Command, place: &Place<'_>) -> Vec<RuleMatch> {
        let mut found = self.covering(&command.words, Some(place));
        if command.resolved != command.words {
            let restricting = self.covering(&command.resolved, Some(place));
            let restricting = restricting.into_iter().filter(RuleMatch::restricts);
            found.extend(restricting);
        }
        if self.may_turn_restricted(command) {
            found.retain(RuleMatch::restricts);
        }
        found
    }

    fn may_turn_restricted(&self, command: &Command) -> bool {
        command.expands_at.is_some_and(|known| {
            let known = &command.resolved[..known];
            self.prefix.iter().any(|rule| {
                rule.decision > Decision::Allow
                    && rule.pattern().len() > known.len()
                    && rule.could_cover(known)
            })
        })
    }

    fn covers_example(&self, words: &[String]) -> bool {
        !self.covering(words, None).is_empty()
    }

    /// Rules for the words as they are, else rules for the bare name of the program.
    fn covering(&self, words: &[String], place: Option<&Place<'_>>) -> Vec<RuleMatch> {
        let found = self.literal(words);
        if !found.is_empty() {
            return found;
        }
        let Some((program, name)) = words.first().and_then(|program| {
            let (_, name) = program.rsplit_once('/')?;
            Some((program, name))
        }) else {
            return found;
        };
        let path = match place {
            Some(place) => resolve(place.cwd, Path::new(program)),
            None => PathBuf::from(program),
        };
        if let Some(paths) = self.executables.get(name)
            && !paths.iter().any(|listed| Path::new(listed) == path)
        {
            return found;
        }
        let mut renamed = words.to_vec();
        name.clone_into(&mut renamed[0]);
        let mut found = self.literal(&renamed);
        if place.is_some_and(|place| place.can_replace(Path::new(program))) {
            found.retain(RuleMatch::restricts);
        }
        found
    }

    fn literal(&self, words: &[String]) -> Vec<RuleMatch> {
        self.prefix
            .iter()
            .filter(|rule| rule.covers(words))
            .map(|rule| RuleMatch {
                prefix: words[..rule.pattern().len()].to_vec(),
                decision: rule.decision,
                justification: rule.justification.clone(),
            })
            .collect()
    }
}

impl RuleMatch {
    fn restricts(&self) -> bool {
        self.decision > Decision::Allow
    }
}
