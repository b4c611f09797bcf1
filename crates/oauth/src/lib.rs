//! What every OAuth login in a browser needs: the secrets of PKCE, the local page that the browser returns to,
//! and forms. Accounts (`auth`) and MCP servers (`mcp`) log in with it.

mod callback;
pub mod form;
mod pkce;

pub use callback::{Answer, Callback};
pub use pkce::{NoRandomness, Pkce};
