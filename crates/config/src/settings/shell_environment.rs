//! The environment of commands: which variables they get.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::own_keys;
use crate::snapshot::Snapshot;

/// Which variables commands start from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inherit {
    /// Those every program needs.
    Core,
    /// All of the server's.
    #[default]
    All,
    /// None.
    None,
}

/// `[shell_environment_policy]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ShellEnvironment {
    /// Which variables commands start from.
    pub inherit: Inherit,
    /// Names that look like secrets are kept, or dropped. If nobody says, it depends on the command:
    /// see [`ShellEnvironment::withholds`].
    pub ignore_default_excludes: Option<bool>,
    /// Patterns of names to drop.
    pub exclude: Vec<String>,
    /// Variables to set.
    pub set: BTreeMap<String, String>,
    /// If not empty, only names that match one of these patterns are kept.
    pub include_only: Vec<String>,
    /// Commands run in a shell that loads the user's profile.
    pub experimental_use_profile: bool,
    /// Variables with keys of the program itself.
    #[serde(skip)]
    own_keys: BTreeSet<String>,
}

impl Default for ShellEnvironment {
    fn default() -> Self {
        Self {
            inherit: Inherit::All,
            ignore_default_excludes: None,
            exclude: Vec::new(),
            set: BTreeMap::new(),
            include_only: Vec::new(),
            experimental_use_profile: false,
            own_keys: BTreeSet::new(),
        }
    }
}

const CORE: [&str; 9] = [
    "HOME", "LOGNAME", "PATH", "SHELL", "USER", "USERNAME", "TMPDIR", "TEMP", "TMP",
];
/// Without these, programs do not start or find nothing on Windows.
const CORE_OF_WINDOWS: [&str; 8] = [
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "SYSTEMROOT",
    "USERPROFILE",
    "WINDIR",
];
/// The names that a setting drops, and those that commands without network do not get by default.
const SECRETS: [&str; 3] = ["*KEY*", "*SECRET*", "*TOKEN*"];
const WITHHELD: [&str; 4] = ["*KEY*", "*SECRET*", "*TOKEN*", "*PASSWORD*"];

impl ShellEnvironment {
    /// The environment of a command started from this one: inherit, drop what looks secret, drop what is
    /// excluded, set, keep only what is included. Keys of the program itself are dropped unless they are
    /// set or included by name.
    pub fn apply<'a>(
        &self,
        env: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> BTreeMap<String, String> {
        let inherited = |name: &str| match self.inherit {
            Inherit::All => true,
            Inherit::Core => {
                let of_system = CORE_OF_WINDOWS.iter().filter(|_| cfg!(windows));
                let mut core = CORE.iter().chain(of_system);
                core.any(|core| core.eq_ignore_ascii_case(name))
            }
            Inherit::None => false,
        };
        let mut vars: BTreeMap<String, String> = env
            .into_iter()
            .filter(|(name, _)| inherited(name) && !self.excludes(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        vars.extend(self.set.clone());
        vars.retain(|name, _| self.includes(name));
        vars
    }

    /// Whether commands must not see a variable of this name, also where their shell sets it.
    pub fn drops(&self, name: &str) -> bool {
        self.excludes(name) || !self.includes(name)
    }

    fn excludes(&self, name: &str) -> bool {
        let secrets: &[&str] = match self.ignore_default_excludes {
            None | Some(true) => &[],
            Some(false) => &SECRETS,
        };
        let is_own_key =
            self.own_keys.contains(name) && !CORE.contains(&name) && !self.includes_by_name(name);
        is_own_key
            || secrets.iter().any(|pattern| matches(pattern, name))
            || self.exclude.iter().any(|pattern| matches(pattern, name))
    }

    fn includes(&self, name: &str) -> bool {
        let mut patterns = self.include_only.iter();
        self.include_only.is_empty() || patterns.any(|pattern| matches(pattern, name))
    }

    /// Whether a sandboxed command without network does not get this variable: its name looks like a
    /// secret, and no setting says that it is kept.
    pub fn withholds(&self, name: &str) -> bool {
        self.ignore_default_excludes.is_none()
            && WITHHELD.iter().any(|pattern| matches(pattern, name))
            && !self.set.contains_key(name)
            && !self.includes_by_name(name)
    }

    /// Whether it is kept by its very name.
    fn includes_by_name(&self, name: &str) -> bool {
        let mut included = self.include_only.iter();
        included.any(|pattern| pattern.eq_ignore_ascii_case(name))
    }
}

/// Whether a name fits a pattern of `*`, `?` and `[…]`; case does not count.
fn matches(pattern: &str, name: &str) -> bool {
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
    let (pattern, name) = (lower(pattern), lower(name));
    let (mut p, mut n) = (0, 0);
    // Where to go on when the last `*` has to swallow one character more.
    let mut retry = None;
    while n < name.len() {
        match one(&pattern[p..], name[n]) {
            Some(0) => {
                retry = Some((p, n));
                p += 1;
            }
            Some(length) => {
                p += length;
                n += 1;
            }
            None => match retry {
                Some((star, swallowed)) => {
                    retry = Some((star, swallowed + 1));
                    p = star + 1;
                    n = swallowed + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How much of the pattern matches this character: 0 for a `*`, which takes any number of them.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '*' => Some(0),
        '?' => Some(1),
        '[' => match pattern[1..].iter().position(|end| *end == ']') {
            Some(length) => class(&pattern[1..=length], c).then_some(length + 2),
            None => (c == '[').then_some(1),
        },
        literal => (*literal == c).then_some(1),
    }
}

/// The inside of `[…]`: characters and ranges, after `!` or `^` those it must not be.
fn class(class: &[char], c: char) -> bool {
    let (negated, class) = match class {
        ['!' | '^', rest @ ..] => (true, rest),
        class => (false, class),
    };
    let mut rest = class;
    let mut found = false;
    while let [first, tail @ ..] = rest {
        (found, rest) = match tail {
            ['-', last, tail @ ..] => (found || (*first..=*last).contains(&c), tail),
            tail => (found || *first == c, tail),
        };
    }
    found != negated
}

impl Snapshot {
    /// The environment of commands.
    pub fn shell_environment(&self) -> ShellEnvironment {
        let view = self.view();
        ShellEnvironment {
            own_keys: own_keys::names(&view),
            ..view.table("shell_environment_policy")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENV: [(&str, &str); 6] = [
        ("PATH", "/bin"),
        ("HOME", "/h"),
        ("OPENAI_API_KEY", "k"),
        ("my_token", "t"),
        ("LANG", "C"),
        ("MONKEY", "m"),
    ];

    fn names(policy: &ShellEnvironment) -> Vec<String> {
        policy.apply(ENV).into_keys().collect()
    }

    #[test]
    fn steps_come_in_order() {
        let all = ShellEnvironment::default();
        assert_eq!(names(&all).len(), ENV.len());
        let core = ShellEnvironment {
            inherit: Inherit::Core,
            ..ShellEnvironment::default()
        };
        assert_eq!(names(&core), ["HOME", "PATH"]);
        let careful = ShellEnvironment {
            ignore_default_excludes: Some(false),
            ..ShellEnvironment::default()
        };
        assert_eq!(names(&careful), ["HOME", "LANG", "PATH"]);
        let set = ShellEnvironment {
            exclude: vec!["P*".to_owned()],
            set: BTreeMap::from([
                ("PATH".to_owned(), "/set".to_owned()),
                ("X".to_owned(), "1".to_owned()),
            ]),
            include_only: vec!["PATH".to_owned(), "l?ng".to_owned()],
            ..ShellEnvironment::default()
        };
        assert_eq!(names(&set), ["LANG", "PATH"]);
        assert_eq!(set.apply(ENV)["PATH"], "/set");
        let none = ShellEnvironment {
            inherit: Inherit::None,
            ..ShellEnvironment::default()
        };
        assert!(names(&none).is_empty());
    }

    #[test]
    fn own_keys_are_kept_from_commands() {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let policy = ShellEnvironment {
            own_keys: BTreeSet::from_iter(
                ["OPENAI_API_KEY", "my_token", "HOME"].map(str::to_owned),
            ),
            ..ShellEnvironment::default()
        };
        assert_eq!(names(&policy), ["HOME", "LANG", "MONKEY", "PATH"]);
        let wanted = ShellEnvironment {
            include_only: named(&["PATH", "openai_api_key", "*_token"]),
            ..policy
        };
        assert_eq!(names(&wanted), ["OPENAI_API_KEY", "PATH"]);
    }

    #[test]
    fn secrets_are_withheld_unless_a_setting_keeps_them() {
        let unset = ShellEnvironment::default();
        for name in ["GITHUB_TOKEN", "aws_secret_x", "PGPASSWORD", "MY_KEY"] {
            assert!(unset.withholds(name), "{name}");
        }
        assert!(!unset.withholds("PATH"));
        for ignore in [true, false] {
            let said = ShellEnvironment {
                ignore_default_excludes: Some(ignore),
                ..ShellEnvironment::default()
            };
            assert!(!said.withholds("GITHUB_TOKEN"));
        }
        let kept = ShellEnvironment {
            set: BTreeMap::from([("MY_KEY".to_owned(), "1".to_owned())]),
            include_only: vec!["GITHUB_TOKEN".to_owned(), "*_SECRET".to_owned()],
            ..ShellEnvironment::default()
        };
        assert!(!kept.withholds("MY_KEY"));
        assert!(!kept.withholds("github_token"));
        assert!(kept.withholds("A_SECRET"));
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*KEY*", "monkey_x", true),
            ("A*B*C", "axxbxxc", true),
            ("A*B*C", "axxbxx", false),
            ("?", "", false),
            ("a?c", "abc", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[x", "[x", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
