//! How a command line is shown and compared.

use crate::bash::{Script, parse_script};

/// The words as one line that a shell would split into the same words.
#[must_use]
pub fn display<S: AsRef<str>>(words: &[S]) -> String {
    let quoter = shlex::Quoter::new().allow_nul(true);
    let words = || words.iter().map(AsRef::as_ref);
    quoter
        .join(words())
        .unwrap_or_else(|_| words().collect::<Vec<_>>().join(" "))
}

/// A command line without the wrapping that does not change what it does, for comparing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Canonical {
    /// A program and its arguments, called directly or as the only command of a script.
    Argv(Vec<String>),
    /// A script that is more than one command whose words stay as they are.
    Script {
        /// `-c` or `-lc`: a login shell may find other programs.
        flag: String,
        /// Its text.
        text: String,
    },
}

impl Canonical {
    /// The comparable form of an argument vector, of which `script` is what its shell runs.
    #[must_use]
    pub fn of(argv: &[String], script: Option<&str>) -> Canonical {
        let Some(script) = script else {
            return Canonical::Argv(argv.to_vec());
        };
        if let Script::Plain(commands) = parse_script(script)
            && let [only] = commands.as_slice()
            && only.expands_at.is_none()
            && only.resolved == only.words
        {
            return Canonical::Argv(only.words.clone());
        }
        Canonical::Script {
            flag: argv[1].clone(),
            text: script.to_owned(),
        }
    }
}
