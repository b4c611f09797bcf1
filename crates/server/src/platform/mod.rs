//! What the systems do each in its own way, under one name: permissions, links, standard input, signals and
//! the user's shell.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
