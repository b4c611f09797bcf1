//! Files that others can touch too: a sandboxed command, another program, whoever made the repository.
//! What they leave where a file is expected cannot make the program wait or grow without end.

mod lock;
mod read;
mod replace;

pub use lock::open_locked;
pub use read::{open, read, read_start, read_text};
pub use replace::Target;
