//! The limits of the organisation's account: somebody else fetches them, this is what is known of them.

use crate::Table;
use crate::load::{LoadError, Loader};
use crate::requirements::{self, Source};
use crate::snapshot::Snapshot;

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

impl Loader {
    /// Sets what is known of the limits of the organisation's account.
    pub fn set_cloud_limits(&self, limits: CloudLimits) {
        let mut state = self.state();
        if state.cloud != limits {
            state.cloud = limits;
            state.changed();
        }
    }

    /// The configuration as it would be without an organisation's account: what is needed to ask that for its limits.
    pub fn load_without_cloud(&self) -> Result<Snapshot, LoadError> {
        let cwd = self.env().cwd();
        let mut reading = self.read_layers(Some(cwd), self.flags())?;
        let managed = reading.stack.managed();
        let requirements = self.limits_with(&CloudLimits::None, &mut reading.files, managed)?;
        Snapshot::new(self, cwd, reading, requirements, Table::new())
    }

    pub(crate) fn cloud(&self) -> CloudLimits {
        self.state().cloud.clone()
    }
}
