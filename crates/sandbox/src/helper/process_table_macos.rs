//! Who is whose child, as macOS tells.

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub pid: libc::pid_t,
    pub parent: libc::pid_t,
}

/// All processes that this user may see.
pub(crate) fn all() -> Vec<Entry> {
    // SAFETY: without a buffer this counts.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    // Others may start meanwhile.
    let mut pids: Vec<libc::pid_t> = vec![0; usize::try_from(count).unwrap_or(0) + 64];
    let size = size_of_val(&pids[..]) as libc::c_int;
    // SAFETY: the buffer has the size that is given.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    pids.into_iter().filter_map(read).collect()
}

/// A process; `None` if it is gone or belongs to another user.
fn read(pid: libc::pid_t) -> Option<Entry> {
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let size = size_of_val(&info) as libc::c_int;
    // SAFETY: the buffer has the size that is given.
    let filled =
        unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, (&raw mut info).cast(), size) };
    (filled == size).then_some(Entry {
        pid,
        parent: info.pbi_ppid.cast_signed(),
    })
}
