//! What may stand in a configuration file: every key with its type, default and meaning, as data.
//!
//! One table serves the check of files, the paths inside them, the effective configuration that
//! clients read, the warning about unknown keys and the reference page. A key is added in one place.

mod check;
mod effective;
mod ignored;
mod others;
mod paths;
mod providers;
mod requirements;
mod root;
mod safety;
mod tools;
mod words;

pub use check::{Mismatch, check};
pub use effective::effective;
pub use ignored::{IgnoredKey, Why, ignored_keys, nearest};
pub(crate) use paths::normalized;
pub use paths::{relative_path, resolve_paths};
pub use requirements::REQUIREMENTS;
pub use root::ROOT;

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A string.
    Str,
    /// A path; a relative one is meant from the directory of its file.
    Path,
    /// A path that is kept as written.
    PlainPath,
    /// A whole number.
    Int(Int),
    /// A time in seconds, fractions allowed.
    Seconds,
    /// An amount, fractions allowed.
    Number,
    /// One of some words.
    Word(&'static [&'static str]),
    /// The same, with words that later versions added. Messages name the first ones, as the official server does.
    WordSince(&'static [&'static str], &'static [&'static str]),
    /// Any word of 1 to 48 bytes, although only some are known: a name for messages, and the known ones.
    OpenWord(&'static str, &'static [&'static str]),
    /// One of some words, of which some carry a table: `"a"` or `{ b = { … } }`.
    Variant(&'static [Variant]),
    /// An array.
    List(&'static Kind),
    /// A table with free keys, and a rule over the whole of it.
    Map(&'static Kind, Option<Rule>),
    /// A table with known keys.
    Table(&'static Section),
    /// The table of features: free keys, of which each is on or off.
    Switches,
    /// Any of several types; the name stands in messages about a value that is none of them.
    AnyOf(&'static str, &'static [Kind]),
}

/// The size of a whole number, named as messages name it.
#[derive(Debug, Clone, Copy)]
pub struct Int {
    /// The name of its type in messages, as the official server has it.
    pub name: &'static str,
    /// The least value.
    pub min: i64,
    /// The greatest value.
    pub max: i64,
    /// The limits are narrower than those of the type, so messages and the reference say them.
    pub narrowed: bool,
}

impl Int {
    /// What a number beyond the limits should have been.
    fn expectation(&self) -> String {
        let Int { name, min, max, .. } = *self;
        match self.narrowed {
            false => name.to_owned(),
            true if max == i64::MAX => format!("a whole number of at least {min}"),
            true => format!("a whole number from {min} to {max}"),
        }
    }
}

/// A word that may carry a table.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The word.
    pub name: &'static str,
    /// The table it carries, if it carries one.
    pub section: Option<&'static Section>,
    /// What it is called in the message about a missing table.
    pub shape: &'static str,
}

/// A table with known keys.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// The name in messages about a value that is no table.
    pub name: &'static str,
    /// The known keys.
    pub keys: &'static [Key],
    /// The type of all other keys, where users choose names next to known keys. Messages about such
    /// values name the table, not the key.
    pub rest: Option<&'static Kind>,
    /// Rules that concern more than one key.
    pub rule: Option<Rule>,
    /// What else to do before the table is shown to clients.
    pub finish: Option<Finish>,
}

/// A rule over a whole table: what is wrong with it, if anything.
pub type Rule = fn(&crate::Table) -> Option<String>;

/// Completes what is shown of a table: what was written, and what is to be shown.
pub type Finish = fn(&crate::Table, &mut crate::Table);

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// How the effective configuration shows it when nobody set it.
    pub absent: Absent,
    /// What holds when nobody set it, in words.
    pub default: &'static str,
    /// Another name it is accepted under.
    pub alias: Option<&'static str>,
    /// What it is for.
    pub doc: &'static str,
    /// Whether it does what its text says.
    pub effect: Effect,
}

/// What a setting does here. A table's effect holds for everything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It does what its text says.
    Works,
    /// It is accepted and does nothing; a file that sets it causes a warning.
    Nothing,
    /// Only the official terminal interface uses it. The file may be shared with that program, so there is
    /// no warning.
    OfficialTui,
}

/// How an absent value is shown.
#[derive(Debug, Clone, Copy)]
pub enum Absent {
    /// As `null`.
    Null,
    /// Not at all.
    Omit,
    /// As this value.
    Json(&'static str),
    /// As the directory of the process.
    Cwd,
    /// It must not be absent.
    Required,
}

const fn map(kind: &'static Kind) -> Kind {
    Kind::Map(kind, None)
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        absent: Absent::Null,
        default: "",
        alias: None,
        doc,
        effect: Effect::Works,
    }
}

/// A setting that only the official terminal interface uses.
const fn tui(name: &'static str, kind: Kind) -> Key {
    let mut key = key(name, kind, "");
    key.effect = Effect::OfficialTui;
    key
}

impl Key {
    /// Says in words what holds when the key is absent.
    const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    /// Shows this value when the key is absent.
    const fn shown(mut self, json: &'static str) -> Self {
        self.absent = Absent::Json(json);
        self.default = json;
        self
    }

    /// Does not show the key when it is absent.
    const fn omitted(mut self) -> Self {
        self.absent = Absent::Omit;
        self
    }

    const fn required(mut self) -> Self {
        self.absent = Absent::Required;
        self
    }

    const fn cwd(mut self) -> Self {
        self.absent = Absent::Cwd;
        self.default = "the server's directory";
        self
    }

    /// The key is accepted and does nothing.
    const fn no_effect(mut self) -> Self {
        self.effect = Effect::Nothing;
        self
    }

    const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }
}

impl Section {
    const fn new(name: &'static str, keys: &'static [Key]) -> Self {
        Self {
            name,
            keys,
            rest: None,
            rule: None,
            finish: None,
        }
    }

    const fn with_rest(mut self, rest: &'static Kind) -> Self {
        self.rest = Some(rest);
        self
    }

    const fn with_rule(mut self, rule: Rule) -> Self {
        self.rule = Some(rule);
        self
    }

    const fn with_finish(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys
            .iter()
            .find(|key| key.name == name || key.alias == Some(name))
    }

    /// The type of the value under this name.
    fn kind(&self, name: &str) -> Option<&'static Kind> {
        self.key(name).map(|key| &key.kind).or(self.rest)
    }
}

const fn int(name: &'static str, min: i64, max: i64) -> Kind {
    Kind::Int(Int {
        name,
        min,
        max,
        narrowed: false,
    })
}

/// A type whose values are limited further than its name says.
const fn within(name: &'static str, min: i64, max: i64) -> Kind {
    Kind::Int(Int {
        name,
        min,
        max,
        narrowed: true,
    })
}

const I64: Kind = int("i64", i64::MIN, i64::MAX);
const I32: Kind = int("i32", i32::MIN as i64, i32::MAX as i64);
const U64: Kind = int("u64", 0, i64::MAX);
const U32: Kind = int("u32", 0, u32::MAX as i64);
const U16: Kind = int("u16", 0, u16::MAX as i64);
const USIZE: Kind = int("usize", 0, i64::MAX);
const POSITIVE: Kind = int("a nonzero u64", 1, i64::MAX);
/// A time limit or a size that would let nothing happen if it were 0.
const AT_LEAST_ONE: Kind = within("u64", 1, i64::MAX);
/// A size of a context window. More is a mistake: no model reads so much.
const WINDOW: Kind = within("i64", 1, 1_000_000_000);
