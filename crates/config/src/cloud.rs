//! The limits of the organisation's account: somebody else fetches them, this is what is known of them.

use crate::requirements::{self, Source};

/// What is known of the limits of the organisation's account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CloudLimits {
    /// The account has none, or there is no account.
    #[default]
    None,
    /// The limits, as the text of a `requirements.toml`.
    Text(String),
    /// The account may have some that are not known. No configuration is loaded without them.
    Unavailable(CloudError),
}

/// Why the limits of the account are not known. The text is the one that clients show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct CloudError {
    /// What kind of failure it is.
    pub kind: CloudErrorKind,
    /// What happened, for the user.
    pub detail: String,
    /// The status that the backend answered with.
    pub status: Option<u16>,
}

/// The kinds of failure that clients tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloudErrorKind {
    /// Only a new login helps.
    Auth,
    /// The limits make no sense.
    Parse,
    /// The backend refused, or could not be reached.
    RequestFailed,
    /// The backend took too long.
    Timeout,
}

impl CloudErrorKind {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auth => "Auth",
            Self::Parse => "Parse",
            Self::RequestFailed => "RequestFailed",
            Self::Timeout => "Timeout",
        }
    }
}

impl CloudLimits {
    /// The limits in a text of the backend; `None` if they make no sense.
    pub fn read(text: Option<String>) -> Option<Self> {
        match text.filter(|text| !text.trim().is_empty()) {
            None => Some(Self::None),
            Some(text) => {
                let limits = requirements::from_toml(&text, &Source::Cloud).ok()?;
                limits.check_features().ok()?;
                Some(Self::Text(text))
            }
        }
    }
}
