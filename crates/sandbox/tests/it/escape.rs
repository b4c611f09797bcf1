//! Attempts to get out of the sandbox, each of which must fail.
//!
//! Each attack runs without a sandbox first, to see that it would work; then one process inside a
//! sandbox tries them all, for each policy and mechanism. The suite runs as this user and as an
//! ordinary one.

mod files;
mod kernel;
mod network;
mod processes;

use std::{
    fs::{self, File},
    io,
    net::{TcpListener, UdpSocket},
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::{
            fs::{MetadataExt, PermissionsExt},
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
};

use quipu_sandbox::{Command, Enforcement, Exit, Network, Policy, Readable, WorkspaceWrite};
use tokio::sync::OnceCell;

use crate::{
    actor::{cast, say},
    lab::{BACKENDS, Scratch, finish, program, repeat_as_nobody, shell, system_call, user_id},
};

/// Whether an attack would work without a sandbox, so that it is worth preventing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Works {
    ForAnybody,
    ForRoot,
    /// It depends on the machine, or is better not tried.
    Unknown,
}

type Deed = fn() -> io::Result<()>;

fn attacks() -> impl Iterator<Item = (&'static str, Works, Deed)> {
    let tables: [&'static [(&'static str, Works, Deed)]; 4] = [
        files::ATTACKS,
        kernel::ATTACKS,
        network::ATTACKS,
        processes::ATTACKS,
    ];
    tables.into_iter().flatten().copied()
}

/// The property of a run that tries one mechanism only, and leaves out what does not depend on circumstances.
pub const ONLY: &str = "ONLY_MECHANISM";

/// The role that tries everything.
const ALL: &str = "all attacks";

/// The role that only matters where the kernel is old.
const SIGNAL_BY_FILE: &str = "signal the server by a file";

/// The attack of that name, for the process that carries it out.
pub fn attack(name: &str) -> Option<Deed> {
    if name == ALL {
        return Some(try_all);
    }
    if name == SIGNAL_BY_FILE {
        return Some(processes::signal_by_file);
    }
    attacks()
        .find(|(other, ..)| *other == name)
        .map(|(.., deed)| deed)
}

/// Tries all attacks, each in a process of its own, and says what became of them.
fn try_all() -> io::Result<()> {
    for (name, _, deed) in attacks() {
        // What an earlier attack has left would make the next one fail for the wrong reason.
        let folder = property("WORKSPACE").join("folder");
        fs::remove_dir_all(&folder).ok();
        fs::create_dir(&folder).ok();
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            0 => {
                match deed() {
                    Ok(()) => say(&format!("escaped: {name}\n")),
                    Err(error) => say(&format!("prevented: {name}: {error}\n")),
                }
                std::process::exit(0);
            }
            // SAFETY: waits for the child just made.
            child => unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) },
        };
    }
    Ok(())
}

/// A property of the scene, as the attacker knows it.
fn property(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_default().into()
}

fn number(name: &str) -> usize {
    property(name).to_string_lossy().parse().unwrap_or(0)
}

/// What the attacks aim at. All of it belongs to this process, which stands for the server.
struct Scene {
    scratch: Scratch,
    _open_file: File,
    _unix: UnixListener,
    _datagrams: UnixDatagram,
    _abstract: UnixListener,
    tcp: TcpListener,
    udp: UdpSocket,
    shared_memory: i64,
    abstract_name: String,
    shm_file: tempfile::NamedTempFile,
}

impl Scene {
    fn new() -> Self {
        let scratch = Scratch::new();
        let outside = &scratch.outside;
        for name in ["file", "victim", "other"] {
            fs::write(outside.join(name), "untouched").unwrap();
        }
        fs::set_permissions(outside.join("file"), fs::Permissions::from_mode(0o600)).unwrap();
        let git = scratch.workspace.join(".git/hooks");
        fs::create_dir_all(&git).unwrap();
        fs::write(scratch.workspace.join(".git/config"), "untouched").unwrap();
        fs::write(git.join("pre-commit"), "untouched").unwrap();
        fs::create_dir(scratch.workspace.join("folder")).unwrap();
        let home = scratch.workspace.join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("config.toml"), "untouched").unwrap();
        let abstract_name = crate::lab::new_mark();
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let size = 4096;
        let create = libc::IPC_CREAT as usize | 0o600;
        let open_file = File::options()
            .append(true)
            .open(outside.join("file"))
            .unwrap();
        // Left to be inherited, as careless code does.
        let fd = open_file.as_raw_fd() as usize;
        system_call(libc::SYS_fcntl, &[fd, libc::F_SETFD as usize, 0]).unwrap();
        Self {
            _open_file: open_file,
            _unix: UnixListener::bind(outside.join("socket")).unwrap(),
            _datagrams: UnixDatagram::bind(outside.join("datagrams")).unwrap(),
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            shared_memory: system_call(libc::SYS_shmget, &[0, size, create]).unwrap(),
            abstract_name,
            shm_file: tempfile::NamedTempFile::new_in("/dev/shm").unwrap(),
            scratch,
        }
    }

    fn command(&self, attack: &str, command: Command) -> Command {
        let text = |number: &dyn ToString| PathBuf::from(number.to_string());
        let properties = [
            ("OUTSIDE", self.scratch.outside.clone()),
            ("WORKSPACE", self.scratch.workspace.clone()),
            ("SERVER", text(&std::process::id())),
            ("TCP", text(&self.tcp.local_addr().unwrap().port())),
            ("UDP", text(&self.udp.local_addr().unwrap().port())),
            ("SHARED_MEMORY", text(&self.shared_memory)),
            ("ABSTRACT", self.abstract_name.clone().into()),
            ("SHM_FILE", self.shm_file.path().into()),
            ("SETUID_PROGRAM", property("SETUID_PROGRAM")),
        ];
        let properties: Vec<(&str, &Path)> = properties
            .iter()
            .map(|(name, value)| (*name, value.as_path()))
            .collect();
        cast(attack, &properties, command)
    }

    /// What an attack has changed.
    fn damage(&self) -> Option<String> {
        let (outside, workspace) = (&self.scratch.outside, &self.scratch.workspace);
        let untouched = [
            outside.join("file"),
            outside.join("victim"),
            outside.join("other"),
            workspace.join(".git/config"),
            workspace.join(".git/hooks/pre-commit"),
            workspace.join("home/config.toml"),
        ];
        for path in untouched {
            if fs::read_to_string(&path).unwrap_or_default() != "untouched" {
                return Some(format!("{} was changed", path.display()));
            }
        }
        let found = fs::metadata(outside.join("file")).unwrap();
        if found.permissions().mode() & 0o7777 != 0o600 || found.mtime() < 1_000_000 {
            return Some(format!("{found:?}"));
        }
        let entries = fs::read_dir(outside).unwrap().count();
        let hooks = fs::read_dir(workspace.join(".git/hooks")).unwrap().count();
        // An empty folder may be there to keep others from making one.
        let codex = workspace.join(".codex/config.toml").exists();
        (entries != 5 || hooks != 1 || codex).then(|| format!("{entries} {hooks} {codex}"))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let remove = [self.shared_memory as usize, libc::IPC_RMID as usize];
        system_call(libc::SYS_shmctl, &remove).ok();
    }
}

/// What the attacks are tried against.
fn ways(scratch: &Scratch) -> impl Iterator<Item = (Policy, Enforcement)> + use<> {
    let writing = WorkspaceWrite {
        protected_paths: vec![scratch.workspace.join("home")],
        ..scratch.policy()
    };
    let online = WorkspaceWrite {
        network: Network::Internet,
        ..writing.clone()
    };
    let gated = Policy::WorkspaceWrite(WorkspaceWrite {
        network: Network::Gate,
        ..writing.clone()
    });
    let policies = [
        Policy::ReadOnly {
            readable: Readable::Everything,
            network: Network::Off,
        },
        Policy::WorkspaceWrite(writing),
        Policy::WorkspaceWrite(online),
    ];
    let all = policies
        .clone()
        .into_iter()
        .flat_map(|policy| BACKENDS.map(|enforcement| (policy.clone(), enforcement)));
    // The oldest Landlock leaves the most to the filter and the supervisor.
    let [_, writing, _] = policies;
    all.collect::<Vec<_>>()
        .into_iter()
        .chain([(writing, Enforcement::OldLandlock(1))])
        .chain([(gated, Enforcement::Namespaces)])
}

/// Attacks that the policy of an online workspace does not forbid.
const ONLINE: [&str; 3] = [
    "reach the server over TCP",
    "reach the server over UDP",
    "reach the world",
];

/// Whether a mechanism is to be tried under these circumstances.
fn is_wanted(enforcement: Enforcement) -> bool {
    let only = property(ONLY);
    only.as_os_str().is_empty() || only.as_os_str() == format!("{enforcement:?}").as_str()
}

/// Sees that an attack would work, if it can be known.
async fn try_bare(name: &str, works: Works) {
    if works == Works::ForAnybody || works == Works::ForRoot && user_id() == 0 {
        let scene = Scene::new();
        let bare = shell("", &scene.scratch.workspace, Policy::FullAccess);
        let done = finish(scene.command(name, bare)).await;
        assert_eq!(
            done.exit,
            Exit::Code(0),
            "{name} does not even work bare: {done:?}"
        );
    }
}

/// What got out: the attack, and the policy and the mechanism that let it pass. Damage has no name.
async fn escapes() -> &'static [(&'static str, String)] {
    static FOUND: OnceCell<Vec<(&str, String)>> = OnceCell::const_new();
    FOUND.get_or_init(try_all_ways).await
}

async fn try_all_ways() -> Vec<(&'static str, String)> {
    let mut escaped = Vec::new();
    for way in 0.. {
        let scene = Scene::new();
        let Some((policy, enforcement)) = ways(&scene.scratch).nth(way) else {
            break;
        };
        if !is_wanted(enforcement) {
            continue;
        }
        let online = policy.network() == Network::Internet;
        let command = Command {
            enforcement,
            ..shell("", &scene.scratch.workspace, policy.clone())
        };
        let done = finish(scene.command(ALL, command)).await;
        for (name, ..) in attacks() {
            let prevented = done.stdout.contains(&format!("prevented: {name}:"));
            let allowed = online && ONLINE.contains(&name);
            if !prevented && !allowed {
                escaped.push((name, format!("{enforcement:?} {policy:?}")));
            }
        }
        let damage = scene.damage();
        escaped.extend(damage.map(|it| ("", format!("{enforcement:?} {policy:?}: {it}"))));
        eprintln!("{enforcement:?} {policy:?}:\n{}", done.stdout);
    }
    escaped
}

#[tokio::test]
async fn every_attack_is_prevented() {
    if property(ONLY).as_os_str().is_empty() {
        for (name, works, _) in attacks() {
            try_bare(name, works).await;
        }
    }
    let escaped = escapes().await;
    assert!(escaped.is_empty(), "{escaped:#?}");
}

/// One kind of escape: each of its attacks works without a sandbox, where that can be known, and fails in every one.
async fn is_prevented(names: &[&str]) {
    for name in names {
        let attack = attacks().find(|(other, ..)| other == name);
        let (name, works, _) = attack.unwrap_or_else(|| panic!("no attack is called {name}"));
        try_bare(name, works).await;
    }
    let escaped = escapes().await.iter();
    let escaped: Vec<_> = escaped.filter(|(name, _)| names.contains(name)).collect();
    assert!(escaped.is_empty(), "{escaped:#?}");
}

macro_rules! escapes {
    ($($kind:ident: $names:expr;)*) => {
        $(#[tokio::test]
        async fn $kind() {
            is_prevented(&$names).await;
        })*
    };
}

escapes! {
    by_path: ["write by path", "append by path", "create by path", "truncate", "remove", "make a folder"];
    by_symbolic_link: ["write by symbolic link", "link in, write later", "create by a dangling link"];
    by_rename: ["rename out", "rename in", "exchange", "replace the workspace"];
    by_hard_link: ["hard link in and write", "hard link out"];
    by_dots: ["write by dots"];
    by_proc_self_root: ["write by the root of a process", "write by the root of the server"];
    by_proc_fd: ["write by a descriptor of the server", "take the server's descriptors"];
    by_ptrace: ["trace the server", "trace the supervisor", "write the server's memory", "write the supervisor's memory"];
    by_mount: ["mount", "remount writable", "unmount", "a file system of one's own", "a new view of the files"];
    by_new_namespaces: ["new user namespace", "new mount namespace", "clone into a user namespace", "enter the server's namespaces"];
    by_setuid_programs: ["become root by a program"];
    by_unix_sockets: ["unix socket", "unix datagrams", "redirect a pair of datagram sockets", "reconnect a pair of sockets"];
    by_abstract_sockets: ["abstract socket"];
    by_io_uring: ["io_uring"];
    by_tcp: ["reach the server over TCP"];
    by_udp: ["reach the server over UDP", "reach the world"];
    by_netlink: ["netlink of other kinds"];
    by_signals: ["signal the server", "signal the supervisor", "kill the first process", "signal the server by descriptor"];
    by_scheduling: ["set the server's priority", "set the server's priority for disks", "choose the server's processors", "schedule the server"];
    by_leases: ["keep others from a file"];
    by_secrets_of_the_environment: ["read the server's environment"];
    by_inherited_descriptors: ["use descriptors of the server"];
    by_git_hooks: ["write a hook", "add a hook", "link a hook", "make a hook executable", "replace the repository"];
    by_the_configuration_of_the_home: ["write the configuration of the home", "make a configuration folder"];
}

#[tokio::test]
async fn by_leaving_a_process_behind() {
    for enforcement in BACKENDS {
        let (scratch, mark) = (Scratch::new(), crate::lab::new_mark());
        let script = format!(
            "(setsid sh -c 'trap \"\" HUP INT TERM; sleep 1000; : {mark}' >/dev/null 2>&1 &); echo left"
        );
        let done = finish(scratch.shell(&script, enforcement)).await;
        assert_eq!(done.stdout, "left\n", "{done:?}");
        assert_eq!(
            crate::lab::Marked::find(&mark).count(),
            0,
            "{enforcement:?}"
        );
    }
}

#[tokio::test]
async fn by_signals_of_files() {
    try_bare(SIGNAL_BY_FILE, Works::ForAnybody).await;
    let scene = Scene::new();
    let command = scene.scratch.shell("", Enforcement::OldLandlock(1));
    let done = finish(scene.command(SIGNAL_BY_FILE, command)).await;
    assert_ne!(done.exit, Exit::Code(0), "{done:?}");
}

#[test]
fn every_attack_is_prevented_for_an_ordinary_user() {
    // A program that makes its users root, if this user can make one.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("setuid");
    fs::copy(program(), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    repeat_as_nobody(
        "escape::every_attack_is_prevented",
        &[("SETUID_PROGRAM", &path)],
    );
}
