//! What a run of the clients happens on: one temporary directory with one home, one directory to work in and one server.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Outcome;

pub struct Stage {
    directory: PathBuf,
    server: Child,
    /// The address of its websocket.
    url: String,
}

impl Stage {
    /// Starts the server with an empty home and the offline model.
    pub fn start(quipu: &Path) -> Outcome<Stage> {
        let directory = std::env::temp_dir().join(format!("quipu-clients-{}", std::process::id()));
        let work = directory.join("work");
        for it in [&work, &directory.join("home/.quipu")] {
            fs::create_dir_all(it).map_err(|error| cannot("create", it, &error))?;
        }
        let settings = format!(
            "model_provider = \"offline\"\n[projects.{:?}]\ntrust_level = \"trusted\"\n",
            work.display().to_string()
        );
        write(&directory.join("home/.quipu/config.toml"), &settings)?;
        let git = output(program("git").args(["init", "--quiet"]).arg(&work))?;
        if !git.0 {
            return Err(format!("`git init` failed: {}", git.1));
        }
        let server = within(&directory, quipu)
            .args(["app-server", "--listen", "ws://127.0.0.1:0", "--listen"])
            .arg(format!("unix://{}", socket(&directory).display()))
            .current_dir(&work)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| cannot("start", quipu, &error))?;
        let mut stage = Stage {
            directory,
            server,
            url: String::new(),
        };
        stage.url = announced(&mut stage.server)?;
        stage.make_codex(quipu)?;
        Ok(stage)
    }

    /// The program that clients start in place of the official one: `app-server` is the server that runs already,
    /// everything else is Quipu itself.
    fn make_codex(&self, quipu: &Path) -> Outcome {
        let text = format!(
            "#!/bin/sh\n\
             case \" $* \" in\n\
             \x20 *' generate-'* | *' --help '*) ;;\n\
             \x20 *' app-server '*) exec '{0}' app-server proxy --sock '{1}' ;;\n\
             esac\n\
             exec '{0}' \"$@\"\n",
            quipu.display(),
            socket(&self.directory).display(),
        );
        let path = self.codex();
        write(&path, &text)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
            .map_err(|error| cannot("make executable", &path, &error))
    }

    fn codex(&self) -> PathBuf {
        self.directory.join("codex")
    }

    /// A directory for one client, which is gone with the stage.
    pub fn client(&self, number: usize) -> Outcome<PathBuf> {
        let path = self.directory.join(number.to_string());
        fs::create_dir(&path).map_err(|error| cannot("create", &path, &error))?;
        Ok(path)
    }

    /// A program in the environment of the clients: nothing of the caller's but the search path.
    pub fn command(&self, path: &Path, client: &Path) -> Command {
        let mut command = within(&self.directory, path);
        command
            .current_dir(client)
            .env("CLIENT_DIR", client)
            .env("CODEX", self.codex())
            .env("QUIPU_URL", &self.url)
            .env("WORK", self.directory.join("work"));
        command
    }

    /// Ends the server, which must have survived all clients, and removes everything.
    pub fn end(mut self) -> Outcome {
        let status = match self.server.try_wait() {
            Ok(None) => {
                output(program("kill").arg(self.server.id().to_string()))?;
                self.server.wait()
            }
            Ok(Some(status)) => return Err(format!("the server ended during the run ({status})")),
            Err(error) => Err(error),
        };
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("the server failed when it was stopped ({status})")),
            Err(error) => Err(format!("cannot wait for the server: {error}")),
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // After `end` there is nothing to kill; on the way out of a failure nothing more can be done.
        drop(self.server.kill());
        drop(self.server.wait());
        drop(fs::remove_dir_all(&self.directory));
    }
}

/// Where the server listens for clients that start a program.
fn socket(directory: &Path) -> PathBuf {
    directory.join("socket")
}

/// The address of the websocket, which the server prints. What it prints later goes to our own standard error.
fn announced(server: &mut Child) -> Outcome<String> {
    let stderr = server.stderr.take().ok_or("the server has no output")?;
    let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
    let url = lines.find_map(|line| {
        line.strip_prefix("  listening on: ")
            .filter(|it| it.starts_with("ws://"))
            .map(str::to_owned)
    });
    std::thread::spawn(move || lines.for_each(|line| eprintln!("server: {line}")));
    url.ok_or_else(|| "the server ended without listening".to_owned())
}

/// A program with the run's home and nothing else of the caller's environment.
fn within(directory: &Path, path: &Path) -> Command {
    let mut command = program(path);
    command
        .env_clear()
        .env("HOME", directory.join("home"))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8");
    command
}

#[expect(
    clippy::disallowed_methods,
    reason = "a chore ends before its children matter"
)]
pub fn program(path: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(path)
}

/// Runs a command; whether it succeeded, and what it printed.
pub fn output(command: &mut Command) -> Outcome<(bool, String)> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output();
    let done = done.map_err(|error| format!("cannot start `{name}`: {error}"))?;
    let text = [done.stdout, done.stderr].concat();
    Ok((
        done.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    ))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| cannot("write", path, &error))
}

fn cannot(verb: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {verb} {}: {error}", path.display())
}
