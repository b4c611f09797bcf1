//! The clock of the server under test. This program defines the function by which all of it asks the
//! system for the time, and adds what a file says; so the time of day can jump in one process alone.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use libc::{c_int, clockid_t, timespec};

/// The variable that names the file.
pub const FILE: &str = "QUIPU_FAULTS_CLOCK";

/// Seconds that are added to the time of day, in memory that the test shares.
static OFFSET: OnceLock<&'static AtomicI64> = OnceLock::new();

/// Lets the clock of this process follow the file that the test named, if it did.
pub fn follow() {
    let Some(path) = std::env::var_os(FILE) else {
        return;
    };
    let Ok(file) = std::fs::File::open(path) else {
        return;
    };
    // SAFETY: a new mapping of the eight bytes of a file that is never made shorter.
    let memory = unsafe {
        use std::os::fd::AsRawFd as _;
        let fd = file.as_raw_fd();
        libc::mmap(
            std::ptr::null_mut(),
            8,
            libc::PROT_READ,
            libc::MAP_SHARED,
            fd,
            0,
        )
    };
    if memory != libc::MAP_FAILED {
        // SAFETY: the mapping is aligned to a page, holds eight bytes and is never unmapped.
        let offset = unsafe { &*memory.cast::<AtomicI64>() };
        OFFSET.get_or_init(|| offset);
    }
}

/// Takes the place of the C library's function in this program.
///
/// # Safety
/// As for that function: `time` must be valid for writing.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: the system call that the function stands for, with its arguments.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    if let (0, libc::CLOCK_REALTIME, Some(offset)) = (result, clock, OFFSET.get()) {
        // SAFETY: the system has just written to it.
        unsafe { (*time).tv_sec += offset.load(Ordering::Relaxed) };
    }
    -c_int::from(result != 0)
}

/// The test's end: the file that a server follows.
pub struct Clock(PathBuf);

impl Clock {
    pub fn new(file: &Path) -> Clock {
        let clock = Clock(file.to_owned());
        clock.shift(0);
        clock
    }

    pub fn file(&self) -> &Path {
        &self.0
    }

    /// Sets the clocks of all servers that follow it so many seconds ahead of the true time.
    pub fn shift(&self, seconds: i64) {
        use std::os::unix::fs::FileExt as _;
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.0);
        // Written in place: a shorter file would take the memory from under its readers.
        let written = file.and_then(|file| file.write_all_at(&seconds.to_ne_bytes(), 0));
        written.unwrap_or_else(|error| panic!("the clock's file: {error}"));
    }
}
