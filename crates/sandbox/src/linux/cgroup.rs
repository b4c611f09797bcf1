//! Control groups, where this process may make some: all that comes from a command stays in the command's group,
//! whoever its parents are and in whichever order helpers are killed. The kernel ends a group at once.
//!
//! The zygote makes a group for each supervisor and ends it after that. Groups of a zygote that was killed are ended by
//! the server, or by the next one that runs in the same group.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io,
    os::{fd::AsRawFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use crate::{fd::check, helper::process_table};

/// The child begins in the group whose directory is named. The constant of `libc` is too narrow for it.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// How often a group is tried to be removed; its processes may hang in the kernel.
const MAX_TRIES: u32 = 100;

/// The groups of a zygote.
pub(crate) struct Groups {
    /// Where groups can be made, until that fails.
    base: Option<PathBuf>,
    made: u64,
    /// By supervisor.
    alive: HashMap<libc::pid_t, PathBuf>,
    /// Those that were ended, and how often their removal was tried.
    ended: Vec<(PathBuf, u32)>,
}

impl Groups {
    /// None yet.
    pub(crate) fn new() -> Groups {
        Groups {
            base: own_group(),
            made: 0,
            alive: HashMap::new(),
            ended: Vec::new(),
        }
    }

    /// Forks this process, which must have one thread, into a group of its own if there can be one. Zero in the child.
    pub(crate) fn fork(&mut self) -> io::Result<libc::pid_t> {
        if let Some(group) = self.make() {
            match fork_into(&group) {
                Ok(0) => return Ok(0),
                Ok(child) => {
                    self.alive.insert(child, group);
                    return Ok(child);
                }
                // Others come out of it without a group, too.
                Err(_) => {
                    remove(&group);
                    self.base = None;
                }
            }
        }
        // SAFETY: this process has one thread.
        check(unsafe { libc::fork() })
    }

    /// Ends the groups of supervisors that are gone; tells whether some could not be removed yet.
    pub(crate) fn end_others(&mut self, supervisors: &HashSet<libc::pid_t>) -> bool {
        let gone = self.alive.extract_if(|pid, _| !supervisors.contains(pid));
        for (_, group) in gone {
            end(&group);
            self.ended.push((group, 0));
        }
        self.ended.retain_mut(|(group, tries)| {
            *tries += 1;
            !remove(group) && *tries < MAX_TRIES
        });
        !self.ended.is_empty()
    }

    fn make(&mut self) -> Option<PathBuf> {
        let name = name(std::process::id().cast_signed(), self.made)?;
        let group = self.base.as_ref()?.join(name);
        self.made += 1;
        // A group that the kernel cannot end is of no use.
        let can_end = fs::create_dir(&group).is_ok() && group.join("cgroup.kill").exists();
        if !can_end {
            remove(&group);
            self.base = None;
            return None;
        }
        Some(group)
    }
}

/// Ends the groups of zygotes that were killed.
pub(crate) fn end_abandoned() {
    let Some((base, namespace)) = own_group().zip(process_namespace()) else {
        return;
    };
    let prefix = format!("quipu-{namespace}-");
    let groups = fs::read_dir(base).into_iter().flatten().flatten();
    let zygote_of = |name: &str| -> Option<libc::pid_t> {
        let (zygote, _) = name.strip_prefix(&prefix)?.split_once('-')?;
        zygote.parse().ok()
    };
    let groups = groups.filter_map(|group| {
        let zygote = zygote_of(group.file_name().to_str()?)?;
        Some((zygote, group.path()))
    });
    let groups: Vec<(libc::pid_t, PathBuf)> = groups.collect();
    if groups.is_empty() {
        return;
    }
    let table = process_table::all();
    let lives = |pid: libc::pid_t| table.iter().any(|it| it.pid == pid && !it.has_ended);
    for (_, group) in groups.iter().filter(|(zygote, _)| !lives(*zygote)) {
        end(group);
        remove(group);
    }
}

/// The name of a group: who sees the process by this number, the zygote, and which of its groups it is.
fn name(zygote: libc::pid_t, number: u64) -> Option<String> {
    Some(format!("quipu-{}-{zygote}-{number}", process_namespace()?))
}

/// Process numbers mean nothing in another namespace, and a group may be shared by several.
fn process_namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|it| it.ino())
}

/// The directory of the group that this process is in, if the second version of groups is in use.
fn own_group() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, place) = (fields.next()?, fields.next()?);
        (after.starts_with("cgroup2 ") && root == "/").then_some(place)
    })?;
    // A process that was moved out of sight by a namespace has a path that leads out of it.
    let is_below = !own.split('/').any(|part| part == "..");
    is_below.then(|| Path::new(mount).join(own))
}

/// Kills all processes of a group and of those below it.
fn end(group: &Path) {
    // A group that is gone, or not ours any more, has nothing to end.
    fs::write(group.join("cgroup.kill"), "1").ok();
}

/// Removes a group and those below it, which programs may have made; false while there are processes.
fn remove(group: &Path) -> bool {
    let below = fs::read_dir(group).into_iter().flatten().flatten();
    for directory in below.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())) {
        remove(&directory.path());
    }
    fs::remove_dir(group).is_ok() || !group.exists()
}

/// Forks this process, which must have one thread, into a group.
fn fork_into(group: &Path) -> io::Result<libc::pid_t> {
    let directory = File::open(group)?;
    // SAFETY: the arguments of zeros are valid; they live through the call. Without a stack of its own the child goes
    // on here, as after a fork.
    let child = unsafe {
        let mut arguments: libc::clone_args = std::mem::zeroed();
        arguments.flags = CLONE_INTO_CGROUP;
        arguments.exit_signal = libc::SIGCHLD as u64;
        arguments.cgroup = directory.as_raw_fd() as u64;
        libc::syscall(
            libc::SYS_clone3,
            &raw mut arguments,
            size_of::<libc::clone_args>(),
        )
    };
    check(child as libc::c_int)
}
