//! Attempts to get out of the sandbox, each of which must fail.
//!
//! Each attack runs without a sandbox first, to see that it would work; then one process inside a
//! sandbox tries them all, for each policy and mechanism. The suite runs as this user and as an
//! ordinary one, and `docs/sandbox-attacks.md` says what came of it.

mod files;
mod kernel;
mod modes;
mod network;
mod page;
mod processes;
mod secrets;

use std::{
    ffi::CString,
    fs::{self, File, OpenOptions},
    io,
    net::{TcpListener, UdpSocket},
    os::{
        fd::AsRawFd,
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            fs::{MetadataExt, PermissionsExt},
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
    sync::OnceLock,
};

use quipu_sandbox::{
    Command, Enforcement, Exit, Hidden, Network, Policy, Readable, WorkspaceWrite, capabilities,
};
use tokio::sync::OnceCell;

use crate::{
    actor::{cast, say},
    lab::{
        BACKENDS, Scratch, finish, is_in_role, program, repeat_as_nobody, shell, system_call,
        user_id,
    },
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
type Attack = (&'static str, Works, Deed);

/// All attacks, by what they aim at.
const KINDS: [(&str, &[Attack]); 6] = [
    ("Files outside and protected ones inside", files::ATTACKS),
    ("Stores and credentials", secrets::ATTACKS),
    ("Programs that lend rights to others", modes::ATTACKS),
    ("Interfaces of the kernel", kernel::ATTACKS),
    ("Sockets", network::ATTACKS),
    ("Other processes", processes::ATTACKS),
];

fn attacks() -> impl Iterator<Item = Attack> {
    KINDS
        .into_iter()
        .flat_map(|(_, attacks)| attacks.iter().copied())
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
        let directory = property("WORKSPACE").join("directory");
        fs::remove_dir_all(&directory).ok();
        fs::create_dir(&directory).ok();
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

fn outside(name: &str) -> PathBuf {
    property("OUTSIDE").join(name)
}

fn workspace(name: &str) -> PathBuf {
    property("WORKSPACE").join(name)
}

/// Something outside as seen from the root.
fn relative(name: &str) -> PathBuf {
    outside(name).strip_prefix("/").unwrap().to_path_buf()
}

fn at_cwd() -> usize {
    libc::AT_FDCWD as isize as usize
}

fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn append(path: &Path) -> io::Result<()> {
    use std::io::Write;
    OpenOptions::new().append(true).open(path)?.write_all(b"x")
}

/// What the attacks aim at. All of it belongs to this process, which stands for the server.
struct Scene {
    scratch: Scratch,
    _open_files: [File; 3],
    _unix: UnixListener,
    _datagrams: UnixDatagram,
    _abstract: UnixListener,
    _abstract_datagrams: UnixDatagram,
    tcp: TcpListener,
    udp: UdpSocket,
    shared_memory: i64,
    semaphores: i64,
    /// How many entries there are outside.
    entries: usize,
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
        fs::create_dir(scratch.workspace.join("directory")).unwrap();
        for home in [outside.join("home"), scratch.workspace.join("home")] {
            lay_out_home(&home);
        }
        fs::create_dir(outside.join("empty")).unwrap();
        fs::create_dir(outside.join("credentials")).unwrap();
        for name in ["credentials/id_ed25519", "netrc"] {
            fs::write(outside.join(name), secrets::SECRET).unwrap();
        }
        let lender = scratch.workspace.join("lender");
        fs::write(&lender, "untouched").unwrap();
        fs::set_permissions(&lender, fs::Permissions::from_mode(0o4755)).unwrap();
        make_node(&outside.join("pipe"), libc::S_IFIFO);
        if user_id() == 0 {
            // The same as /dev/null.
            make_node(&outside.join("device"), libc::S_IFCHR);
        }
        let abstract_name = crate::lab::new_mark();
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let size = 4096;
        let create = libc::IPC_CREAT as usize | 0o600;
        let open_file = File::options()
            .append(true)
            .open(outside.join("file"))
            .unwrap();
        let datagram_name = format!("{abstract_name}-datagrams");
        let datagram_address = SocketAddr::from_abstract_name(&datagram_name).unwrap();
        let mut both = File::options();
        let pipe = both.read(true).write(true);
        let pipe = pipe.open(outside.join("pipe")).unwrap();
        let store = File::open(outside.join("home/auth.json")).unwrap();
        // Left to be inherited, as careless code does.
        let fd = open_file.as_raw_fd() as usize;
        system_call(libc::SYS_fcntl, &[fd, libc::F_SETFD as usize, 0]).unwrap();
        Self {
            _open_files: [open_file, pipe, store],
            _unix: UnixListener::bind(outside.join("socket")).unwrap(),
            _datagrams: UnixDatagram::bind(outside.join("datagrams")).unwrap(),
            _abstract_datagrams: UnixDatagram::bind_addr(&datagram_address).unwrap(),
            entries: fs::read_dir(outside).unwrap().count(),
            semaphores: system_call(libc::SYS_semget, &[0, 1, create]).unwrap(),
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
            ("SEMAPHORES", text(&self.semaphores)),
            ("IPC_NAMESPACE", fs::read_link("/proc/self/ns/ipc").unwrap()),
            (
                "ABSTRACT_DATAGRAMS",
                text(&format!("{}-datagrams", self.abstract_name)),
            ),
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
        for home in [outside, workspace].map(|it| it.join("home/auth.json")) {
            if fs::read_to_string(&home).unwrap_or_default() != secrets::SECRET {
                return Some(format!("{} was changed", home.display()));
            }
        }
        let found = fs::metadata(outside.join("file")).unwrap();
        if found.permissions().mode() & 0o7777 != 0o600 || found.mtime() < 1_000_000 {
            return Some(format!("{found:?}"));
        }
        let entries = fs::read_dir(outside).unwrap().count();
        let hooks = fs::read_dir(workspace.join(".git/hooks")).unwrap().count();
        // An empty directory may be there to keep others from making one.
        let codex = workspace.join(".codex/config.toml").exists();
        (entries != self.entries || hooks != 1 || codex)
            .then(|| format!("{entries} {hooks} {codex}"))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let remove = [self.shared_memory as usize, libc::IPC_RMID as usize];
        system_call(libc::SYS_shmctl, &remove).ok();
        let remove = [self.semaphores as usize, 0, libc::IPC_RMID as usize];
        system_call(libc::SYS_semctl, &remove).ok();
    }
}

/// The home of a server: stores, and what commands may know.
fn lay_out_home(home: &Path) {
    for directory in ["sessions", "skills"] {
        fs::create_dir_all(home.join(directory)).unwrap();
    }
    fs::write(home.join("config.toml"), "untouched").unwrap();
    fs::write(home.join("skills/skill.md"), "public").unwrap();
    for store in ["auth.json", "sessions/thread.jsonl"] {
        fs::write(home.join(store), secrets::SECRET).unwrap();
    }
    let script = home.join("script");
    fs::write(&script, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
}

fn make_node(path: &Path, kind: libc::mode_t) {
    let path = c_string(path);
    let arguments = [
        at_cwd(),
        path.as_ptr() as usize,
        (kind | 0o666) as usize,
        0x103,
    ];
    system_call(libc::SYS_mknodat, &arguments).unwrap();
}

/// The mechanisms, the strongest first. The oldest Landlock leaves the most to the filter and the
/// supervisor.
const MECHANISMS: [Enforcement; 4] = [
    Enforcement::Namespaces,
    Enforcement::OnlyNamespaces,
    Enforcement::Landlock,
    Enforcement::OldLandlock(1),
];

/// What the attacks are tried against.
fn ways(scratch: &Scratch) -> impl Iterator<Item = (Policy, Enforcement)> + use<> {
    let homes = [&scratch.outside, &scratch.workspace].map(|it| it.join("home"));
    let hidden = Hidden {
        always: homes.to_vec(),
        except: homes.map(|home| home.join("skills")).to_vec(),
        offline: ["credentials", "netrc"]
            .map(|name| scratch.outside.join(name))
            .to_vec(),
    };
    let writing = WorkspaceWrite {
        hidden: hidden.clone(),
        ..scratch.policy()
    };
    let with_network = |network| {
        Policy::WorkspaceWrite(WorkspaceWrite {
            network,
            ..writing.clone()
        })
    };
    let policies = [
        Policy::ReadOnly {
            readable: Readable::Everything,
            hidden,
            network: Network::Off,
        },
        with_network(Network::Off),
        with_network(Network::Internet),
    ];
    let all = policies
        .into_iter()
        .flat_map(|policy| MECHANISMS.map(|enforcement| (policy.clone(), enforcement)));
    let all: Vec<_> = all.collect();
    let gated = (with_network(Network::Gate), Enforcement::Namespaces);
    all.into_iter().chain([gated])
}

/// Attacks that the policy of an online workspace does not forbid.
const ONLINE: [&str; 3] = [
    "reach the server over TCP",
    "reach the server over UDP",
    "reach the world",
];

/// Whether a policy means to allow this.
fn is_meant(attack: &str, policy: &Policy) -> bool {
    match policy.network() {
        Network::Off => false,
        Network::Gate => secrets::CREDENTIALS.contains(&attack),
        Network::Internet | Network::Host => {
            ONLINE.contains(&attack) || secrets::CREDENTIALS.contains(&attack)
        }
    }
}

/// What is known to get out, and why it does.
const KNOWN: [(&str, Enforcement); 4] = [
    ("write into a pipe", Enforcement::OnlyNamespaces),
    (
        "write into a pipe, opened to read and write",
        Enforcement::OnlyNamespaces,
    ),
    (
        "write into a pipe by a symbolic link",
        Enforcement::OnlyNamespaces,
    ),
    (
        "write into a pipe by the root of a process",
        Enforcement::OnlyNamespaces,
    ),
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

/// What became of one attack.
#[derive(Clone, Debug)]
struct Outcome {
    attack: &'static str,
    enforcement: Enforcement,
    result: Result,
    policy: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Result {
    Prevented,
    /// The policy does not forbid it.
    Meant,
    Escaped,
}

/// What came of all attacks, and the damage that was found afterwards.
struct Outcomes {
    all: Vec<Outcome>,
    damage: Vec<String>,
}

impl Outcomes {
    /// What got out and is not known to, and through which sandbox.
    fn escaped(&self) -> impl Iterator<Item = (&str, String)> {
        let escaped = self.all.iter().filter(|it| it.result == Result::Escaped);
        escaped
            .filter(|it| !KNOWN.contains(&(it.attack, it.enforcement)))
            .map(|it| (it.attack, format!("{:?} {}", it.enforcement, it.policy)))
    }
}

async fn outcomes() -> &'static Outcomes {
    static FOUND: OnceCell<Outcomes> = OnceCell::const_new();
    FOUND.get_or_init(try_all_ways).await
}

/// Whether this machine has a mechanism.
async fn is_available(enforcement: Enforcement) -> bool {
    let found = capabilities().await.unwrap();
    let (namespaces, landlock) = (found.namespaces.is_ok(), found.landlock > 0);
    match enforcement {
        Enforcement::Auto => true,
        Enforcement::Namespaces => namespaces && landlock,
        Enforcement::OnlyNamespaces => namespaces,
        Enforcement::Landlock | Enforcement::OldLandlock(_) => landlock,
    }
}

async fn try_all_ways() -> Outcomes {
    let (mut all, mut damage) = (Vec::new(), Vec::new());
    for way in 0.. {
        let scene = Scene::new();
        let Some((policy, enforcement)) = ways(&scene.scratch).nth(way) else {
            break;
        };
        if !is_wanted(enforcement) {
            continue;
        }
        if !is_available(enforcement).await {
            eprintln!("{enforcement:?}: not on this machine, so it is not tried");
            continue;
        }
        let command = Command {
            enforcement,
            ..shell("", &scene.scratch.workspace, policy.clone())
        };
        let done = finish(scene.command(ALL, command)).await;
        for (attack, ..) in attacks() {
            let prevented = done.stdout.contains(&format!("prevented: {attack}:"));
            let result = match prevented {
                true => Result::Prevented,
                false if is_meant(attack, &policy) => Result::Meant,
                false => Result::Escaped,
            };
            all.push(Outcome {
                attack,
                enforcement,
                result,
                policy: format!("{policy:?}"),
            });
        }
        let found = scene.damage();
        damage.extend(found.map(|it| format!("{enforcement:?} {policy:?}: {it}")));
        eprintln!("{enforcement:?} {policy:?}:\n{}", done.stdout);
    }
    Outcomes { all, damage }
}

#[tokio::test]
async fn every_attack_is_prevented() {
    if property(ONLY).as_os_str().is_empty() {
        for (name, works, _) in attacks() {
            try_bare(name, works).await;
        }
    }
    let outcomes = outcomes().await;
    let escaped: Vec<_> = outcomes.escaped().collect();
    assert!(escaped.is_empty(), "{escaped:#?}");
    assert!(outcomes.damage.is_empty(), "{:#?}", outcomes.damage);
    if is_in_role() {
        page::hand_over(outcomes);
    }
}

/// One kind of escape: each of its attacks works without a sandbox, where that can be known, and fails in every one.
async fn is_prevented(names: &[&str]) {
    for name in names {
        let attack = attacks().find(|(other, ..)| other == name);
        let (name, works, _) = attack.unwrap_or_else(|| panic!("no attack is called {name}"));
        try_bare(name, works).await;
    }
    let escaped = outcomes().await.escaped();
    let escaped: Vec<_> = escaped.filter(|it| names.contains(&it.0)).collect();
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
    by_path: ["write by path", "append by path", "create by path", "truncate", "remove", "make a directory"];
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
    by_unix_sockets: ["unix socket", "unix datagrams", "redirect a pair of datagram sockets", "reconnect a pair of sockets", "redirect a pair of raw sockets"];
    by_abstract_sockets: ["abstract socket", "redirect a pair of raw sockets to an abstract name"];
    by_pipes: ["write into a pipe", "write into a pipe by a symbolic link", "move a pipe into the workspace"];
    by_set_user_id: ["chmod 4755", "chmod 2755", "openat2 with mode 4755", "open a new file with mode 4755", "write a set-user-id program that is there", "give a program capabilities"];
    by_stores: ["read a store", "read a store in the workspace", "read a stored thread", "lock a stored thread", "move the home of the stores", "read a store by a hard link"];
    by_credentials: secrets::CREDENTIALS;
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
    by_the_configuration_of_the_home: ["write the configuration of the home", "make a configuration directory"];
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

/// What an ordinary user found, who may use a program that makes its users root; nothing if this user
/// cannot become another.
fn tried_by_nobody() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = directory.path().join("setuid");
        fs::copy(program(), &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
        repeat_as_nobody(
            "escape::every_attack_is_prevented",
            &[("SETUID_PROGRAM", &path)],
        )
    })
}

#[test]
fn every_attack_is_prevented_for_an_ordinary_user() {
    tried_by_nobody();
}

#[tokio::test]
async fn the_page_says_what_the_run_found() {
    let found = outcomes().await;
    page::compare(found, tried_by_nobody()).await;
}
