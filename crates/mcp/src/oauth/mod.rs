//! Logging in at servers that are addresses: finding out how, the login itself, and the tokens it yields.

mod grant;
mod login;
mod metadata;
mod store;
mod visit;

pub use grant::Grant;
pub use login::{Login, LoginRequest};
pub use metadata::supports_login;
pub use store::Store;
