//! How memory is shared out among threads. The allocator of glibc gives almost every thread a heap of its
//! own, up to eight for each processor, and each keeps what it once needed. A server's work wanders over
//! the threads of its runtime, so resident memory would creep up to many times what is in use. And once a
//! large block was freed, it keeps blocks of that size in the heaps, where small ones hold them fast; images
//! and outputs that idle threads gave up would stay resident.

/// From this size on a block is the system's again as soon as it is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 256 << 10;

/// So much may be free at the end of a heap.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SPARE: libc::c_int = 2 << 20;

/// As many heaps as the runtime has workers, and none of them with large blocks.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_few(workers: usize) {
    let Ok(workers) = workers.try_into() else {
        return;
    };
    let numbers = [
        (libc::M_ARENA_MAX, workers),
        (libc::M_MMAP_THRESHOLD, LARGE),
        (libc::M_TRIM_THRESHOLD, SPARE),
    ];
    for (name, value) in numbers {
        // SAFETY: this sets a number of the allocator. It cannot fail in a way that matters: the number
        // stays what it was.
        unsafe { libc::mallopt(name, value) };
    }
}

/// Other allocators have no such habit.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_few(_workers: usize) {}
