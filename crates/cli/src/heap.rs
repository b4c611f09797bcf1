//! How memory is shared out among threads. The allocator of glibc gives almost every thread a heap of its
//! own, up to eight for each processor, and each keeps what it once needed. A server's work wanders over
//! the threads of its runtime, so resident memory would creep up to many times what is in use.

/// As many heaps as the runtime has workers.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_few(workers: usize) {
    let Ok(workers) = workers.try_into() else {
        return;
    };
    // SAFETY: this sets a number of the allocator. It cannot fail in a way that matters: the number stays
    // what it was.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, workers) };
}

/// Other allocators have no such habit.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_few(_workers: usize) {}
