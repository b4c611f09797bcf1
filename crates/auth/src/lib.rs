//! Accounts: keys, logins, tokens, refresh, storage.
//!
//! [`Accounts`] knows who is logged in: first what is kept in memory, then the keyring or `auth.json` in the home
//! directory, in the form that other programs of this protocol read and write. [`BrowserLogin`] and [`DeviceLogin`]
//! are the two ways to a ChatGPT login; both end in a [`Record`] to be stored. Tokens are refreshed by one
//! process at a time. The identity server that all this talks to is the [`Authority`].
//!
//! Secrets leave this crate only through [`Login::secret`] and the stored file; no `Debug` form, error or
//! log line shows them.

mod accounts;
mod authority;
mod backend;
mod backend_request;
mod browser;
mod claims;
mod device;
mod exchange;
mod file;
mod http;
mod login;
mod pages;
mod record;
mod refresh;
mod requirements;
mod storage;
mod usage;

pub use accounts::{Accounts, LoginError};
pub use authority::Authority;
pub use backend_request::{BackendError, BackendRequest, service_url};
pub use browser::{BrowserLogin, StartError};
pub use claims::{Claims, InvalidToken};
pub use device::{DeviceLogin, NoDeviceCode};
pub use http::{Agent, MakeHttp};
pub use login::{ChatGptLogin, Login, NoEmail};
pub use quipu_keyring::Unusable;
pub use record::Record;
pub use refresh::{Recovered, RefreshError};
pub use requirements::NoRequirements;
pub use storage::{ChooseKeep, Keep};
