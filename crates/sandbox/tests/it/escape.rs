//! Attempts to get out of the sandbox, each of which must fail.
//!
//! An attack runs three times: without a sandbox, to see that it would work; and inside one by each
//! mechanism, where it must be prevented. The whole suite runs as this user and as an ordinary one.

mod files;
mod kernel;
mod network;
mod processes;

use std::{
    fs::{self, File},
    io,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
};

use quipu_sandbox::{Command, Exit, Network, Policy, Readable, WorkspaceWrite};

use crate::{
    actor::{PREVENTED, cast},
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

/// The attack of that name, for the process that carries it out.
pub fn attack(name: &str) -> Option<Deed> {
    attacks()
        .find(|(other, ..)| *other == name)
        .map(|(.., deed)| deed)
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
        let abstract_name = crate::lab::new_mark();
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let size = 4096;
        let create = libc::IPC_CREAT as usize | 0o600;
        Self {
            _open_file: File::options()
                .append(true)
                .open(outside.join("file"))
                .unwrap(),
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

    fn assert_untouched(&self, attack: &str) {
        let path = |name: &str| self.scratch.outside.join(name);
        for name in ["file", "victim", "other"] {
            assert_eq!(
                fs::read_to_string(path(name)).unwrap(),
                "untouched",
                "{attack}"
            );
        }
        let mode = fs::metadata(path("file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600, "{attack}");
        let git = self.scratch.workspace.join(".git");
        assert_eq!(
            fs::read_to_string(git.join("config")).unwrap(),
            "untouched",
            "{attack}"
        );
        let hook = fs::read_to_string(git.join("hooks/pre-commit")).unwrap();
        assert_eq!(hook, "untouched", "{attack}");
        assert!(!self.scratch.workspace.join(".codex").exists(), "{attack}");
        assert_eq!(
            fs::read_dir(&self.scratch.outside).unwrap().count(),
            5,
            "{attack}"
        );
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let remove = [self.shared_memory as usize, libc::IPC_RMID as usize];
        system_call(libc::SYS_shmctl, &remove).ok();
    }
}

/// What the attacks are tried against.
fn policies(scratch: &Scratch) -> [(Policy, &'static str); 3] {
    let writing = scratch.policy();
    let online = WorkspaceWrite {
        network: Network::Internet,
        ..writing.clone()
    };
    [
        (
            Policy::ReadOnly {
                readable: Readable::Everything,
                network: Network::Off,
            },
            "read-only",
        ),
        (Policy::WorkspaceWrite(writing), "workspace"),
        (Policy::WorkspaceWrite(online), "workspace online"),
    ]
}

/// Attacks that the policy of an online workspace does not forbid.
const ONLINE: [&str; 2] = ["reach the server over TCP", "reach the server over UDP"];

#[tokio::test]
async fn every_attack_is_prevented() {
    let mut escaped = Vec::new();
    for (name, works, _) in attacks() {
        let control = Scene::new();
        let bare = shell("", &control.scratch.workspace, Policy::FullAccess);
        let expected = works == Works::ForAnybody || works == Works::ForRoot && user_id() == 0;
        if expected {
            let done = finish(control.command(name, bare)).await;
            assert_eq!(
                done.exit,
                Exit::Code(0),
                "{name} does not even work bare: {done:?}"
            );
        }
        let scene = Scene::new();
        for (policy, policy_name) in policies(&scene.scratch) {
            if policy.network() == Network::Internet && ONLINE.contains(&name) {
                continue;
            }
            for enforcement in BACKENDS {
                let command = shell("", &scene.scratch.workspace, policy.clone());
                let command = Command {
                    enforcement,
                    ..command
                };
                let done = finish(scene.command(name, command)).await;
                if done.exit != Exit::Code(PREVENTED) {
                    escaped.push(format!("{name}: {policy_name}, {enforcement:?}: {done:?}"));
                }
                scene.assert_untouched(name);
            }
        }
    }
    assert!(escaped.is_empty(), "{escaped:#?}");
}

#[test]
fn every_attack_is_prevented_for_an_ordinary_user() {
    if user_id() == 0 {
        // A program that makes its users root.
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().join("setuid");
        fs::copy(program(), &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
        // SAFETY: the other tests of this binary do not read the environment meanwhile.
        unsafe { std::env::set_var("SETUID_PROGRAM", &path) };
        repeat_as_nobody("escape::every_attack_is_prevented");
    } else {
        repeat_as_nobody("escape::every_attack_is_prevented");
    }
}
