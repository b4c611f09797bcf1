//! Skills, plugins, marketplaces, apps, external agent import.
//!
//! What people add to the program by putting files somewhere. Nothing here is async or talks to the
//! network; a file that cannot be used becomes an error beside the others, never instead of them.

pub mod apps;
pub mod import;
pub mod plugins;
pub mod skills;
