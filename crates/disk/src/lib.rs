//! Files that others can touch too: a sandboxed command, another program, the author of the repository.
//! What they leave where a file is expected cannot make the program wait or grow without end, nor can a tree of
//! directories by its depth.

mod lock;
mod private;
mod read;
mod remove;
mod replace;

pub use lock::open_locked;
pub use private::private_dirs;
pub use read::{open, read, read_start, read_text, require_regular};
pub use remove::remove_tree;
pub use replace::{Target, put};
