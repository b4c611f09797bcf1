//! Accounts: keys, logins, tokens, storage.
//!
//! [`Accounts`] knows who is logged in: first what is kept in memory, then `auth.json` in the home folder,
//! in the form that other programs of this protocol read and write. Nothing here talks to the network.
//!
//! Secrets leave this crate only through [`Login::secret`]; no `Debug` form or error shows them.

mod accounts;
mod claims;
mod file;
mod login;

pub use accounts::{Accounts, Keep, LoginError};
pub use claims::{Claims, InvalidToken};
pub use login::{ChatGptLogin, Login, NoEmail};
