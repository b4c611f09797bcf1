//! A job object has them all: whatever a member starts is a member too. The system ends its members when
//! the last handle to it is closed, so they also end with this process.

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, Command};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};

/// How often to look whether the killed are gone before it is given up.
const ROUNDS: u32 = 100;

/// What tells a child's descendants from others: nothing is needed here.
pub(crate) struct Mark;

/// The processes below one child.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    job: Arc<OwnedHandle>,
}

impl Family {
    /// Prepares the start of a child.
    pub fn mark(_: &mut Command) -> Mark {
        Mark
    }

    /// The family of a child that was just started.
    pub fn new(child: &Child, _: Mark) -> io::Result<Family> {
        let process = child
            .raw_handle()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: a job may have neither name nor security attributes; its handle is nobody else's; the
        // limits are a local of the type and size that are given; the child keeps its own handle open.
        unsafe {
            let job = CreateJobObjectW(ptr::null(), ptr::null());
            check(i32::from(!job.is_null()))?;
            let job = OwnedHandle::from_raw_handle(job);
            check(SetInformationJobObject(
                job.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_val(&limits) as u32,
            ))?;
            check(AssignProcessToJobObject(job.as_raw_handle(), process))?;
            Ok(Family { job: Arc::new(job) })
        }
    }

    /// Nothing to do: a job does not forget its members.
    pub fn remember(&mut self) {}

    /// Kills everyone, and waits until they are gone.
    pub async fn kill(&self) {
        for _ in 0..ROUNDS {
            if !self.kill_once() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tracing::warn!("some processes that the server started could not be killed");
    }

    /// Kills everyone; says whether there was anyone.
    pub fn kill_once(&self) -> bool {
        let mut found = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the handle is open, and the pointer is to a local of the type and size that are given.
        let asked = check(unsafe {
            QueryInformationJobObject(
                self.job.as_raw_handle(),
                JobObjectBasicAccountingInformation,
                (&raw mut found).cast(),
                size_of_val(&found) as u32,
                ptr::null_mut(),
            )
        });
        // SAFETY: the handle is open and has every right.
        unsafe { TerminateJobObject(self.job.as_raw_handle(), 1) };
        asked.is_ok() && found.ActiveProcesses > 0
    }
}

fn check(result: windows_sys::core::BOOL) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
