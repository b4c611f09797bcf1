//! The number of files that this program and the servers it starts may have open.

/// Raises the limit as far as the system permits: rows with thousands of connections need it, and servers inherit it.
pub fn raise_limit() {
    let mut limit = current();
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: the call reads the value that it is given and keeps nothing.
    // A limit that stays as it is shows in the rows that need more, which are left out then.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
}

/// Whether so many files can be open at once.
pub fn allows(files: u64) -> bool {
    current().rlim_cur >= files
}

fn current() -> libc::rlimit {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call writes to the value that it is given and keeps nothing. If it fails, the limit is none.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    limit
}
