//! One thing that was looked at.

use serde::Serialize;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    Warning,
    Error,
}

impl Status {
    pub fn mark(self) -> &'static str {
        match self {
            Self::Ok => "✓",
            Self::Warning => "!",
            Self::Error => "✗",
        }
    }
}

#[derive(Debug, Serialize)]
pub struct Finding {
    /// What was looked at, in a word.
    pub area: &'static str,
    pub status: Status,
    pub summary: String,
    /// Further lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    pub fn ok(area: &'static str, summary: impl Into<String>) -> Self {
        Self::new(area, Status::Ok, summary.into())
    }

    pub fn warning(area: &'static str, summary: impl Into<String>) -> Self {
        Self::new(area, Status::Warning, summary.into())
    }

    pub fn error(area: &'static str, summary: impl Into<String>) -> Self {
        Self::new(area, Status::Error, summary.into())
    }

    fn new(area: &'static str, status: Status, summary: String) -> Self {
        Self {
            area,
            status,
            summary,
            details: Vec::new(),
            fix: None,
        }
    }

    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    pub fn details(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }
}
