//! What is hidden stays hidden, and what lies around it stays in use. The attempts to get at it are
//! among the attacks (`escape/secrets.rs`).

use std::{fs, path::Path};

use quipu_sandbox::{
    Command, Enforcement, Exit, Grants, Hidden, Network, Policy, Readable, Rules, Spawned, Stdio,
    WorkspaceWrite, spawn,
};

use crate::lab::{BACKENDS, Finished, Scratch, finish, read_until, shell};

/// A home with a store, a skill and a directory to work in; and credentials.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    for directory in ["home/skills", "home/worktrees/a", "ssh"] {
        fs::create_dir_all(scratch.outside.join(directory)).unwrap();
    }
    for (file, text) in [
        ("home/auth.json", "secret"),
        ("home/skills/skill.md", "skill"),
        ("ssh/id_rsa", "key"),
        ("ssh/config", "hosts"),
        ("netrc", "password"),
        ("public", "public"),
    ] {
        fs::write(scratch.outside.join(file), text).unwrap();
    }
    scratch
}

fn hidden(scratch: &Scratch) -> Hidden {
    let at = |name: &str| scratch.outside.join(name);
    Hidden {
        always: vec![at("home")],
        except: vec![at("home/skills"), at("home/missing")],
        offline: vec![at("ssh"), at("netrc"), at("missing")],
    }
}

fn read_only(scratch: &Scratch, network: Network) -> Policy {
    Policy::ReadOnly {
        readable: Readable::Everything,
        hidden: hidden(scratch),
        network,
    }
}

async fn run(
    scratch: &Scratch,
    script: &str,
    policy: Policy,
    enforcement: Enforcement,
) -> Finished {
    let command = shell(script, &scratch.workspace, policy);
    finish(Command {
        enforcement,
        ..command
    })
    .await
}

/// Which of these files a command under a policy can read.
async fn readable(scratch: &Scratch, command: Command) -> Vec<String> {
    let mut found = Vec::new();
    for name in [
        "home/auth.json",
        "home/skills/skill.md",
        "ssh/id_rsa",
        "ssh/config",
        "netrc",
        "public",
    ] {
        let path = scratch.outside.join(name);
        let mut command = command.clone();
        let script = format!("test -s {0} && cat {0}", path.display());
        command.argv = ["/bin/sh", "-c", &script].map(Into::into).to_vec();
        let rules = Rules::resolve(&command.policy, &command.grants).unwrap();
        let says = rules.can_read(&path);
        let reads = finish(command).await.exit == Exit::Code(0);
        assert_eq!(says, reads, "{name}");
        found.extend(reads.then(|| name.to_owned()));
    }
    found
}

#[tokio::test]
async fn stores_are_hidden_from_all_and_credentials_from_commands_without_network() {
    for enforcement in BACKENDS {
        let scratch = scratch();
        let command = |network| Command {
            enforcement,
            ..shell("", &scratch.workspace, read_only(&scratch, network))
        };
        let offline = readable(&scratch, command(Network::Off)).await;
        assert_eq!(offline, ["home/skills/skill.md", "public"]);
        let online = readable(&scratch, command(Network::Internet)).await;
        let all_but_stores = [
            "home/skills/skill.md",
            "ssh/id_rsa",
            "ssh/config",
            "netrc",
            "public",
        ];
        assert_eq!(online, all_but_stores);
        let mut granted = command(Network::Off);
        granted.grants.network = Some(Network::Internet);
        assert_eq!(readable(&scratch, granted).await, all_but_stores);
    }
}

#[tokio::test]
async fn credentials_that_are_named_can_be_read_and_stores_cannot() {
    for enforcement in BACKENDS {
        let scratch = scratch();
        let named = ["netrc", "ssh/config", "home", "home/auth.json"];
        let named = named.map(|name| scratch.outside.join(name)).to_vec();
        let granted = Command {
            grants: Grants {
                readable: named.clone(),
                ..Grants::default()
            },
            enforcement,
            ..shell("", &scratch.workspace, read_only(&scratch, Network::Off))
        };
        let expected = ["home/skills/skill.md", "ssh/config", "netrc", "public"];
        assert_eq!(readable(&scratch, granted).await, expected);
        let policy = Policy::ReadOnly {
            readable: Readable::Only {
                roots: [named, vec![scratch.workspace.clone()]].concat(),
                platform_defaults: true,
            },
            hidden: hidden(&scratch),
            network: Network::Off,
        };
        let only = Command {
            enforcement,
            ..shell("", &scratch.workspace, policy)
        };
        let expected = ["home/skills/skill.md", "ssh/config", "netrc"];
        assert_eq!(readable(&scratch, only).await, expected);
    }
}

#[tokio::test]
async fn work_goes_on_around_and_inside_of_what_is_hidden() {
    for enforcement in BACKENDS {
        let scratch = scratch();
        let inside = scratch.outside.join("home/worktrees/a");
        let around = scratch.outside.clone();
        let policy = |workspace: &Path| {
            Policy::WorkspaceWrite(WorkspaceWrite {
                hidden: hidden(&scratch),
                workspace: workspace.to_owned(),
                ..scratch.policy()
            })
        };
        let script = "echo made > file && cat file && mkdir -p d/e && echo x > d/e/f && mv d g && cat g/e/f && ls";
        let command = |workspace: &Path| Command {
            enforcement,
            ..shell(script, workspace, policy(workspace))
        };
        let done = finish(command(&inside)).await;
        assert_eq!(done.stdout, "made\nx\nfile\ng\n", "{done:?}");
        let done = finish(command(&around)).await;
        assert!(done.stdout.starts_with("made\nx\n"), "{done:?}");
        assert!(!around.join("home/file").exists());
        let script = "cat home/auth.json; cat ../*/home/auth.json; rm -rf home; mv home h; echo x > home/auth.json; echo x > home/new";
        let done = run(
            &scratch,
            &format!("cd {}; {script}", around.display()),
            policy(&around),
            enforcement,
        )
        .await;
        assert_eq!(done.stdout, "", "{done:?}");
        let store = fs::read_to_string(around.join("home/auth.json")).unwrap();
        assert_eq!(store, "secret");
        assert!(!around.join("home/new").exists());
        // The home itself is nothing to work in.
        let home = scratch.outside.join("home");
        let done = run(
            &scratch,
            &format!("cd {}; cat auth.json; echo x > new", home.display()),
            policy(&home),
            enforcement,
        )
        .await;
        assert_eq!(done.stdout, "", "{done:?}");
        assert!(!home.join("new").exists());
    }
}

#[tokio::test]
async fn a_store_stays_hidden_when_it_is_replaced_or_made() {
    for enforcement in BACKENDS {
        let scratch = scratch();
        let home = scratch.outside.join("home");
        let script = format!(
            "echo ready; read go; cat {0}/auth.json {0}/new.json; echo end",
            home.display()
        );
        let mut command = shell(
            &script,
            &scratch.workspace,
            read_only(&scratch, Network::Off),
        );
        command.enforcement = enforcement;
        command.stdio = Stdio::Pipes;
        let Spawned {
            process,
            mut output,
        } = spawn(command).await.unwrap();
        read_until(&mut output, "ready").await;
        for name in ["auth.json", "new.json"] {
            fs::write(home.join("temporary"), "secret").unwrap();
            fs::rename(home.join("temporary"), home.join(name)).unwrap();
        }
        process.write_stdin(b"go\n").await.unwrap();
        let seen = read_until(&mut output, "end").await;
        assert!(!seen.contains("secret"), "{enforcement:?}: {seen}");
    }
}
