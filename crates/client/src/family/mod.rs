//! Everything that came from one child process, so that nothing of it stays behind. Each system has its own
//! way to find it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::Family;
#[cfg(windows)]
pub(crate) use windows::Family;
