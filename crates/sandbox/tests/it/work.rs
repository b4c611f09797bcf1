//! A sandbox keeps commands in, not from their work.

use std::{
    fs::{self, File},
    io::Write,
    net::TcpListener,
    os::{
        fd::AsRawFd,
        unix::{fs::symlink, net::UnixListener},
    },
    path::Path,
};

use quipu_sandbox::{
    Command, Enforcement, Exit, GATE_PORT, Grants, Network, Policy, Readable, Rules, SpawnError,
    WorkspaceWrite, spawn,
};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::lab::{
    BACKENDS, Scratch, finish, read_all, repeat_as_nobody, shell, system_call, user_id,
};

/// What people do in a project, in one script.
pub const EVERYDAY: &str = r"
set -e
umask 027
echo one > top.txt
mkdir -p src/deep/er
echo two > src/deep/er/two.txt
echo more >> top.txt
sed -i s/one/ONE/ top.txt
cp -p top.txt src/copy.txt
mv src/copy.txt moved.txt
mv src/deep deeper
ln moved.txt hard.txt
echo through >> hard.txt
ln -s moved.txt soft.txt
echo soft >> soft.txt
ln -s nowhere dangling
chmod +x top.txt
chmod 600 moved.txt
touch -d '2001-02-03 04:05:06 UTC' src
touch empty
truncate -s 5 empty
mkfifo pipe
mkdir -m 700 private
rm -rf src
mkdir src
: > .hidden
printf '#!/bin/sh\necho script ran\n' > run.sh
chmod 755 run.sh
./run.sh
tar cf archive.tar deeper top.txt
mkdir unpacked
tar xf archive.tar -C unpacked
rm archive.tar
(cd unpacked && echo relative > ../relative.txt && rm -r deeper)
rmdir private
mkdir a b && touch a/1 && mv -T a b
perl -e 'open(F,q(+<),q(top.txt)); truncate(F,2)'
git init -q nested && cd nested && git -c user.name=n -c user.email=e commit -q --allow-empty -m m
cd .. && git -C nested log --format=%s
find . -path ./nested/.git -prune -o -printf '%p %y %m %s %l\n' | sort | grep -v '^./.codex '
cat top.txt moved.txt relative.txt
";

#[tokio::test]
async fn everyday_work_is_the_same_inside() {
    let bare = Scratch::new();
    let expected = finish(shell(EVERYDAY, &bare.workspace, Policy::FullAccess)).await;
    assert_eq!(expected.exit, Exit::Code(0), "{expected:?}");
    for enforcement in BACKENDS.into_iter().chain([Enforcement::OldLandlock(1)]) {
        let scratch = Scratch::new();
        let done = finish(scratch.shell(EVERYDAY, enforcement)).await;
        assert_eq!(
            done.stdout, expected.stdout,
            "{enforcement:?}: {}",
            done.stderr
        );
        assert_eq!(done.exit, Exit::Code(0), "{enforcement:?}: {done:?}");
    }
}

#[test]
fn everyday_work_is_the_same_for_an_ordinary_user() {
    repeat_as_nobody("work::everyday_work_is_the_same_inside", &[]);
}

#[tokio::test]
async fn a_namespace_has_devices_memory_and_terminals() {
    let scratch = Scratch::new();
    let script = "echo x > /dev/null && head -c 3 /dev/urandom | wc -c && echo m > /dev/shm/m && \
                  cat /dev/shm/m && script -qec 'test -t 0 && echo terminal' /dev/null && \
                  ls /proc | grep -c '^[0-9]*$'";
    let done = finish(scratch.shell(script, Enforcement::Namespaces)).await;
    let lines: Vec<&str> = done.stdout.lines().map(str::trim).collect();
    assert_eq!(lines[..3], ["3", "m", "terminal"], "{done:?}");
    assert!(lines[3].parse::<u32>().unwrap() < 8, "{done:?}");
    assert!(!Path::new("/dev/shm/m").exists());
}

#[tokio::test]
async fn a_namespace_has_a_loopback_of_its_own() {
    let scratch = Scratch::new();
    let script = "perl -MIO::Socket::INET -e '\
        my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => q(127.0.0.1)) or die $!;\
        my $c = IO::Socket::INET->new(PeerAddr => q(127.0.0.1:).$s->sockport) or die $!;\
        print q(connected)'";
    let done = finish(scratch.shell(script, Enforcement::Namespaces)).await;
    assert_eq!(done.stdout, "connected", "{done:?}");
}

#[tokio::test]
async fn the_network_can_be_opened_by_degrees() {
    let scratch = Scratch::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let path = scratch.outside.join("socket");
    let _unix = UnixListener::bind(&path).unwrap();
    let script = format!(
        "perl -MIO::Socket::INET -MIO::Socket::UNIX -e '\
         print IO::Socket::INET->new(PeerAddr => q({})) ? q(tcp ) : q(no-tcp );\
         print IO::Socket::UNIX->new(Peer => q({})) ? q(unix) : q(no-unix)'",
        server.local_addr().unwrap(),
        path.display(),
    );
    for enforcement in BACKENDS {
        for (network, expected) in [
            (Network::Off, "no-tcp no-unix"),
            (Network::Internet, "tcp no-unix"),
            (Network::Host, "tcp unix"),
        ] {
            let mut command = scratch.shell(&script, enforcement);
            command.policy = Policy::WorkspaceWrite(WorkspaceWrite {
                network,
                ..scratch.policy()
            });
            assert_eq!(
                finish(command).await.stdout,
                expected,
                "{enforcement:?} {network:?}"
            );
            let mut command = scratch.shell(&script, enforcement);
            command.grants.network = Some(network);
            assert_eq!(
                finish(command).await.stdout,
                expected,
                "{enforcement:?} {network:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_gate_is_the_only_way_out() {
    let scratch = Scratch::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "perl -MIO::Socket::INET -e '\
         print IO::Socket::INET->new(PeerAddr => q({})) ? q(tcp ) : q(no-tcp );\
         my $gate = IO::Socket::INET->new(PeerAddr => q(127.0.0.1:{GATE_PORT})) or die $!;\
         print $gate qq(knock\\n); print scalar <$gate>'",
        server.local_addr().unwrap(),
    );
    let policy = Policy::WorkspaceWrite(WorkspaceWrite {
        network: Network::Gate,
        ..scratch.policy()
    });
    let mut command = scratch.shell(&script, Enforcement::Namespaces);
    command.policy = policy.clone();
    let mut spawned = spawn(command).await.unwrap();
    let mut gate = spawned.process.take_gate().unwrap();
    assert!(spawned.process.take_gate().is_none());
    let visitor = gate.next().await.unwrap();
    let mut visitor = BufReader::new(visitor);
    let mut knock = String::new();
    visitor.read_line(&mut knock).await.unwrap();
    assert_eq!(knock, "knock\n");
    visitor.get_mut().write_all(b"come in\n").await.unwrap();
    let (stdout, stderr) = read_all(&mut spawned.output).await;
    assert_eq!(stdout, "no-tcp come in\n", "{stderr}");
    assert!(gate.next().await.is_none(), "it closes with the command");

    let mut command = scratch.shell("true", Enforcement::Landlock);
    command.policy = policy;
    let refused = spawn(command).await.map(drop).unwrap_err().to_string();
    assert!(refused.contains("needs namespaces"), "{refused}");
    let mut command = scratch.shell("true", Enforcement::Namespaces);
    command.policy = Policy::WorkspaceWrite(scratch.policy());
    assert!(spawn(command).await.unwrap().process.take_gate().is_none());
}

#[tokio::test]
async fn more_can_be_granted_to_one_command() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.outside.join("granted")).unwrap();
    File::create(scratch.outside.join("file")).unwrap();
    let outside = scratch.outside.display();
    let script = format!(
        "echo 1 > {outside}/granted/new; echo 2 > {outside}/file; echo 3 > {outside}/other; true"
    );
    for enforcement in BACKENDS {
        let mut command = scratch.shell(&script, enforcement);
        command.grants.writable = vec![
            scratch.outside.join("granted"),
            scratch.outside.join("file"),
        ];
        let done = finish(command).await;
        let read = |name: &str| fs::read_to_string(scratch.outside.join(name)).unwrap_or_default();
        assert_eq!(
            (read("granted/new").trim(), read("file").trim()),
            ("1", "2"),
            "{done:?}"
        );
        assert_eq!(read("other"), "", "{done:?}");
        fs::remove_file(scratch.outside.join("granted/new")).unwrap();
        fs::write(scratch.outside.join("file"), "").unwrap();
    }
}

#[tokio::test]
async fn reading_can_be_restricted() {
    let scratch = Scratch::new();
    fs::write(scratch.outside.join("secret"), "secret").unwrap();
    fs::write(scratch.workspace.join("own"), "own").unwrap();
    fs::create_dir(scratch.outside.join("shared")).unwrap();
    fs::write(scratch.outside.join("shared/text"), "shared").unwrap();
    let outside = scratch.outside.display();
    let script = format!(
        "cat own; cat {outside}/shared/text; cat {outside}/secret; ls {outside}; ls /root; \
         echo x >> {outside}/shared/text; echo made > made; cat made; ls -d /dev/null /proc/self; \
         echo x > /dev/null && echo null"
    );
    for enforcement in BACKENDS {
        let policy = WorkspaceWrite {
            readable: Readable::Only {
                roots: vec![scratch.outside.join("shared"), "/no/such/directory".into()],
                platform_defaults: true,
            },
            ..scratch.policy()
        };
        let mut command = scratch.shell(&script, enforcement);
        command.policy = Policy::WorkspaceWrite(policy);
        let done = finish(command).await;
        assert!(
            done.stdout.starts_with("ownshared"),
            "{enforcement:?} {done:?}"
        );
        assert!(
            !done.stdout.contains("secret\n"),
            "{enforcement:?} {done:?}"
        );
        assert!(done.stdout.contains("made\n"), "{enforcement:?} {done:?}");
        assert!(done.stdout.ends_with("null\n"), "{enforcement:?} {done:?}");
        let text = fs::read_to_string(scratch.outside.join("shared/text")).unwrap();
        assert_eq!(text, "shared");
    }
}

#[tokio::test]
async fn the_way_to_a_protected_path_cannot_be_moved() {
    // The workspace lies inside another writable directory.
    for enforcement in BACKENDS {
        let scratch = Scratch::new();
        let outer = scratch.outside.join("outer");
        let inner = outer.join("way/inner");
        fs::create_dir_all(inner.join(".git/hooks")).unwrap();
        let policy = WorkspaceWrite {
            workspace: inner.clone(),
            writable_roots: vec![outer.clone()],
            ..scratch.policy()
        };
        let script = "mv ../../way ../../moved; mv ../inner ../moved; mkdir -p ../../way/inner/.git; \
                      echo evil > ../../way/inner/.git/hooks/evil; \
                      cd ../..; rm -rf way 2>/dev/null; echo fine > fine; ls";
        let mut command = Command {
            enforcement,
            ..shell(script, &inner, Policy::FullAccess)
        };
        command.policy = Policy::WorkspaceWrite(policy);
        let done = finish(command).await;
        assert_eq!(
            fs::read_dir(inner.join(".git/hooks")).unwrap().count(),
            0,
            "{done:?}"
        );
        assert_eq!(done.stdout, "fine\nway\n", "{enforcement:?} {done:?}");
    }
}

#[tokio::test]
async fn more_paths_can_be_protected() {
    for enforcement in BACKENDS {
        let scratch = Scratch::new();
        let home = scratch.workspace.join("a/home");
        fs::create_dir_all(home.join("memories")).unwrap();
        let policy = WorkspaceWrite {
            writable_roots: vec![home.join("memories")],
            protected_paths: vec![home.clone()],
            ..scratch.policy()
        };
        let script = "cd a; touch home/config.toml home/memories/m; mv home h; mv ../a ../b; touch c; \
                      find . -not -name .codex | sort";
        let mut command = scratch.shell(script, enforcement);
        command.policy = Policy::WorkspaceWrite(policy);
        let done = finish(command).await;
        let expected = ".\n./c\n./home\n./home/memories\n./home/memories/m\n";
        assert_eq!(done.stdout, expected, "{enforcement:?} {done:?}");
    }
}

#[tokio::test]
async fn a_protected_path_may_be_a_link() {
    for enforcement in BACKENDS {
        let scratch = Scratch::new();
        let repository = scratch.workspace.join("elsewhere/git");
        fs::create_dir_all(repository.join("hooks")).unwrap();
        symlink(&repository, scratch.workspace.join(".git")).unwrap();
        let script = "echo evil > elsewhere/git/hooks/evil; echo evil > .git/hooks/evil; rm -f .git; \
                      mkdir .git; mv elsewhere away; echo fine > elsewhere/fine; ls elsewhere";
        let done = finish(scratch.shell(script, enforcement)).await;
        assert_eq!(done.stdout, "fine\ngit\n", "{enforcement:?} {done:?}");
        assert_eq!(fs::read_dir(repository.join("hooks")).unwrap().count(), 0);
        assert_eq!(
            fs::read_link(scratch.workspace.join(".git")).unwrap(),
            repository
        );
    }
}

#[tokio::test]
async fn no_configuration_can_be_made_up() {
    let scratch = Scratch::new();
    let script = "mkdir .codex 2>&1; touch .codex/x 2>&1; true";
    let runs = (0..20).map(|_| tokio::spawn(finish(scratch.shell(script, BACKENDS[0]))));
    for done in runs.collect::<Vec<_>>() {
        let done = done.await.unwrap();
        assert!(done.stdout.contains("File exists"), "{done:?}");
        assert!(done.stdout.contains("Read-only file system"), "{done:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_enforced_is_refused() {
    let scratch = Scratch::new();
    let error = spawn(scratch.shell("true", Enforcement::OldLandlock(0)))
        .await
        .unwrap_err();
    assert!(matches!(error, SpawnError::CannotEnforce { .. }), "{error}");
    let mut ignored = scratch.shell("echo ran", Enforcement::OldLandlock(0));
    ignored.policy = Policy::External {
        network: Network::Off,
    };
    assert_eq!(finish(ignored).await.stdout, "ran\n");
}

#[test]
fn rules_say_what_may_be_written() {
    let scratch = Scratch::new();
    let (workspace, outside) = (&scratch.workspace, &scratch.outside);
    fs::create_dir_all(workspace.join(".git/refs")).unwrap();
    symlink(outside, workspace.join("out")).unwrap();
    symlink(outside.join("missing"), workspace.join("dangling")).unwrap();
    fs::create_dir_all(workspace.join("own/home/memories")).unwrap();
    let policy = Policy::WorkspaceWrite(WorkspaceWrite {
        writable_roots: vec![workspace.join("own/home/memories")],
        protected_paths: vec![workspace.join("own/home")],
        ..scratch.policy()
    });
    let rules = Rules::resolve(&policy, &Grants::default()).unwrap();
    for (path, expected) in [
        ("new", true),
        ("new/deep/er", true),
        ("out/new", false),
        ("dangling", false),
        ("../outside/new", false),
        ("new/../../outside/new", false),
        (".git", false),
        (".git/config", false),
        (".codex", false),
        (".codex/config.toml", false),
        (".codexes", true),
        (".GIT/hooks/pre-commit", false),
        ("own/home/config.toml", false),
        ("own/home/memories/new", true),
        ("own/new", true),
        (".agents", true),
    ] {
        assert_eq!(rules.can_write(&workspace.join(path)), expected, "{path}");
    }
    assert!(!rules.can_write(Path::new("/etc/passwd")));
    assert!(!rules.can_write(Path::new("relative")));
    let grants = Grants {
        writable: vec![workspace.join(".git/refs")],
        ..Grants::default()
    };
    let rules = Rules::resolve(&policy, &grants).unwrap();
    assert!(rules.can_write(&workspace.join(".git/refs/new")));
    assert!(!rules.can_write(&workspace.join(".git/new")));
    assert!(Rules::resolve(&Policy::FullAccess, &Grants::default()).is_none());
}

#[tokio::test]
async fn root_keeps_files_of_others_in_the_workspace() {
    if user_id() != 0 {
        eprintln!("only root has files of others");
        return;
    }
    for enforcement in BACKENDS {
        let scratch = Scratch::new();
        let mut file = File::create(scratch.workspace.join("theirs")).unwrap();
        file.write_all(b"text").unwrap();
        std::os::unix::fs::chown(scratch.workspace.join("theirs"), Some(1234), Some(1234)).unwrap();
        let script = "echo more >> theirs && chown 4321 theirs && stat -c '%u %g' theirs && id -u";
        let done = finish(scratch.shell(script, enforcement)).await;
        assert_eq!(done.stdout, "4321 1234\n0\n", "{enforcement:?} {done:?}");
    }
}

#[tokio::test]
async fn named_pipes_wait_for_their_other_end() {
    for enforcement in BACKENDS {
        let scratch = Scratch::new();
        let script = "mkfifo pipe; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do \
                      (echo $i > pipe) & timeout 20 cat pipe; wait; done | tail -n 1; \
                      timeout 0.1 sh -c 'echo nobody reads > pipe'; echo $?";
        let done = finish(scratch.shell(script, enforcement)).await;
        assert_eq!(done.stdout, "20\n124\n", "{enforcement:?} {done:?}");
        assert_eq!(done.stderr, "", "{enforcement:?}");
    }
}

#[tokio::test]
async fn whoever_holds_a_file_does_not_hold_up_the_sandbox() {
    let scratch = Scratch::new();
    let path = scratch.workspace.join("held");
    fs::write(&path, "text").unwrap();
    let file = File::open(&path).unwrap();
    let fd = file.as_raw_fd() as usize;
    // The kernel says by this signal that somebody wants the file.
    // SAFETY: ignores a signal.
    unsafe { libc::signal(libc::SIGIO, libc::SIG_IGN) };
    let script = "echo x > held; truncate -s 0 held; echo end";
    let lease = [fd, libc::F_SETLEASE as usize, libc::F_RDLCK as usize];
    system_call(libc::SYS_fcntl, &lease).unwrap();
    let run = finish(scratch.shell(script, Enforcement::Landlock));
    // The kernel would wait for 45 seconds.
    let done = tokio::time::timeout(std::time::Duration::from_secs(30), run).await;
    assert_eq!(done.unwrap().stdout, "end\n");
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
}

/// What counts as settings somewhere is not written from anywhere.
#[tokio::test]
async fn trusted_directories_inside_a_writable_one_keep_their_settings() {
    for enforcement in BACKENDS {
        let scratch = Scratch::new();
        let project = scratch.workspace.join("project");
        let fresh = scratch.workspace.join("fresh");
        fs::create_dir_all(project.join(".codex")).unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(&fresh).unwrap();
        let policy = WorkspaceWrite {
            trusted: vec![project.clone(), fresh.clone()],
            ..scratch.policy()
        };
        let script = "touch project/.codex/config.toml project/.git/config; mkdir -p fresh/.codex/x; \
                      mv fresh moved; rm -rf project; touch project/made fresh/made";
        let mut command = scratch.shell(script, enforcement);
        command.policy = Policy::WorkspaceWrite(policy);
        finish(command).await;
        assert!(
            !project.join(".codex/config.toml").exists(),
            "{enforcement:?}"
        );
        assert!(!project.join(".git/config").exists(), "{enforcement:?}");
        assert!(!fresh.join(".codex/x").exists(), "{enforcement:?}");
        assert!(project.join("made").exists() && fresh.join("made").exists());
    }
}
