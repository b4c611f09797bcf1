//! Job objects: processes that end together, also those that their members start.

use std::{
    io,
    os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle},
    ptr,
};

use parking_lot::Mutex;
use windows_sys::Win32::System::{
    JobObjects::{
        AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
        JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
        JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation,
        QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
    },
    Threading::GetCurrentProcess,
};

/// The exit code of processes that are killed.
pub(super) const KILLED: i32 = 1;

/// The job that this program and all that it starts belong to. Its handle is never closed but by the
/// end of this program, which thereby ends a command even before the command has a job of its own.
static OURS: Mutex<Option<Job>> = Mutex::new(None);

/// A set of processes, killed when this is dropped.
#[derive(Debug)]
pub(super) struct Job(OwnedHandle);

impl Job {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: both pointers may be null: a job without a name and with default security.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just made and nobody else has it.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(handle) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: the pointer is to a local of the type and size that are given.
        check(unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_val(&limits) as u32,
            )
        })?;
        Ok(job)
    }

    /// Adds a process; what it starts from now on is added too.
    pub(super) fn add(&self, process: BorrowedHandle<'_>) -> io::Result<()> {
        // SAFETY: both handles are open.
        check(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process.as_raw_handle()) })
    }

    /// Kills all processes.
    pub(super) fn kill(&self) {
        // SAFETY: the handle is open. It was made with every right, so this cannot be refused.
        unsafe { TerminateJobObject(self.0.as_handle().as_raw_handle(), KILLED as u32) };
    }

    /// Whether no process is left.
    pub(super) fn is_empty(&self) -> io::Result<bool> {
        let mut found = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the pointer is to a local of the type and size that are given.
        check(unsafe {
            QueryInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut found).cast(),
                size_of_val(&found) as u32,
                ptr::null_mut(),
            )
        })?;
        Ok(found.ActiveProcesses == 0)
    }
}

/// Makes sure that whatever this program starts ends with it.
pub(super) fn join_ours() -> io::Result<()> {
    let mut ours = OURS.lock();
    if ours.is_none() {
        let job = Job::new()?;
        // SAFETY: this handle is a constant that always means this process.
        job.add(unsafe { BorrowedHandle::borrow_raw(GetCurrentProcess()) })?;
        *ours = Some(job);
    }
    Ok(())
}

pub(super) fn check(result: windows_sys::core::BOOL) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
