//! Text with a look, for terminals with and without colour.

/// How text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    #[default]
    Plain,
    /// What matters less.
    Dim,
    Bold,
    Added,
    Removed,
    /// What the user must see.
    Alert,
}

impl Look {
    /// The escape sequence that begins it.
    fn code(self) -> &'static str {
        match self {
            Look::Plain => "",
            Look::Dim => "\x1b[2m",
            Look::Bold => "\x1b[1m",
            Look::Added => "\x1b[32m",
            Look::Removed => "\x1b[31m",
            Look::Alert => "\x1b[1;33m",
        }
    }
}

/// A line of one look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub look: Look,
}

impl Line {
    pub fn new(text: impl Into<String>, look: Look) -> Line {
        Line {
            text: text.into(),
            look,
        }
    }

    pub fn plain(text: impl Into<String>) -> Line {
        Line::new(text, Look::Plain)
    }

    pub fn dim(text: impl Into<String>) -> Line {
        Line::new(text, Look::Dim)
    }

    pub fn alert(text: impl Into<String>) -> Line {
        Line::new(text, Look::Alert)
    }

    /// The line as a terminal shows it.
    pub fn painted(&self, colour: bool) -> String {
        match self.look.code() {
            "" => self.text.clone(),
            code if colour => format!("{code}{}\x1b[0m", self.text),
            _ => self.text.clone(),
        }
    }
}
