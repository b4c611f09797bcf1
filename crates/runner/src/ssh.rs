//! Other machines as workers, reached by the `ssh` program: what runs there runs for as long as the connection lives.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::hook::{self, HookError, Variables};
use crate::workspace::{self, Workspace};

/// The exit code by which `ssh` says that it could not reach the host.
pub(crate) const UNREACHABLE: i32 = 255;
/// The name of the failure of an attempt whose host cannot be reached.
pub(crate) const HOST_UNAVAILABLE: &str = "host_unavailable";
/// The exit code by which the scripts here say that the workspace cannot be used.
pub(crate) const NO_WORKSPACE: i32 = 97;
/// How long making or removing a workspace may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A machine to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    destination: String,
    port: Option<u16>,
    /// The configuration of `ssh` in place of the user's.
    config: Option<PathBuf>,
}

impl Host {
    /// Reads `HOST`, `USER@HOST`, either with `:PORT`, or a name of the configuration of `ssh`, which is the user's
    /// unless another file is given.
    pub fn new(text: &str, config: Option<PathBuf>) -> Result<Host, String> {
        let text = text.trim();
        let (destination, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') => {
                let port = port
                    .parse()
                    .map_err(|_| format!("`{port}` is not a port"))?;
                (host, Some(port))
            }
            _ => (text, None),
        };
        let is_plain = |it: char| !it.is_whitespace() && !it.is_control();
        if destination.is_empty()
            || destination.starts_with('-')
            || !destination.chars().all(is_plain)
        {
            return Err(format!("`{text}` is not a host"));
        }
        Ok(Host {
            destination: destination.to_owned(),
            port,
            config,
        })
    }

    /// The arguments of `ssh` that run a script of bash there.
    #[must_use]
    pub fn arguments(&self, script: &str) -> Vec<String> {
        let mut arguments: Vec<String> = Vec::new();
        if let Some(config) = &self.config {
            arguments.extend(["-F".to_owned(), config.display().to_string()]);
        }
        // Nobody is there to be asked, and a host that is gone must be noticed.
        for option in [
            "BatchMode=yes",
            "ConnectTimeout=15",
            "ServerAliveInterval=15",
            "ServerAliveCountMax=3",
        ] {
            arguments.extend(["-o".to_owned(), option.to_owned()]);
        }
        if let Some(port) = self.port {
            arguments.extend(["-p".to_owned(), port.to_string()]);
        }
        // The user's shell there may be any, so it only starts the one that is known.
        let remote = format!("exec bash -c {}", quoted(script));
        arguments.extend([
            "-T".to_owned(),
            "--".to_owned(),
            self.destination.clone(),
            remote,
        ]);
        arguments
    }

    /// The arguments of `ssh` that run a server there, in a workspace, without some variables. When the connection
    /// ends, so does the input of the server, and five seconds later everything that it started: what has the mark of
    /// this server in its environment, in whatever session it runs, and its process group.
    #[must_use]
    pub(crate) fn server(
        &self,
        command: &str,
        workspace: &str,
        variables: &[(String, Option<String>)],
    ) -> Vec<String> {
        // After the profile, which may set them.
        let mut line = String::new();
        for (name, value) in variables {
            line += &match value {
                Some(value) => format!("export {name}={}; ", quoted(value)),
                None => format!("unset {name}; "),
            };
        }
        line += command;
        let mark = mark();
        // Only the server is marked, so that what watches over it does not end itself first.
        let script = format!(
            "{END_MARKED}cd {} || exit {NO_WORKSPACE}\n\
             exec env {mark} bash -lc {} < <(exec 2>/dev/null; cat; sleep 5; end_marked {mark}; kill -KILL -- -$$)",
            quoted(workspace),
            quoted(&line),
        );
        self.arguments(&script)
    }

    /// Finds or makes the workspace of an issue below a root there, as [`workspace::create`] does here. The mark is
    /// there, too, so it does not matter when the connection or the service ends.
    pub async fn create_workspace(
        &self,
        root: &Path,
        identifier: &str,
    ) -> Result<Workspace, HookError> {
        let key = workspace::key(identifier);
        let script = format!(
            "root={}; key={}; mark={}\nmkdir -p -- \"$root\" && cd -- \"$root\" || exit {NO_WORKSPACE}\n\
             made=reused\n\
             if [ -e \"./$mark\" ] || {{ [ ! -e \"./$key\" ] && [ ! -L \"./$key\" ]; }}; then\n\
             made=created; : > \"./$mark\" && rm -rf -- \"./$key\" && mkdir -- \"./$key\" || exit {NO_WORKSPACE}\nfi\n\
             if [ -L \"$key\" ] || [ ! -d \"$key\" ]; then echo \"$root/$key is not a directory\"; exit {NO_WORKSPACE}; fi\n\
             cd -- \"$key\" && printf '%s %s\\n' \"$made\" \"$(pwd -P)\"",
            quoted(&root.display().to_string()),
            quoted(&key),
            quoted(&workspace::mark(&key)),
        );
        let output = self.run("workspace", &script, LIMIT).await?;
        let last = output.lines().last().unwrap_or_default();
        match last.split_once(' ') {
            Some((made, path)) if path.starts_with('/') => Ok(Workspace {
                path: path.into(),
                key,
                created_now: made == "created",
            }),
            _ => Err(HookError::Failed {
                name: "workspace",
                status: "gave no path".to_owned(),
                code: None,
                output,
            }),
        }
    }

    /// Says that a workspace that was made is complete.
    pub async fn finish_workspace(&self, root: &Path, identifier: &str) -> Result<(), HookError> {
        let script = format!(
            "cd -- {} && rm -f -- {}",
            quoted(&root.display().to_string()),
            quoted(&format!(
                "./{}",
                workspace::mark(&workspace::key(identifier))
            )),
        );
        self.run("workspace", &script, LIMIT).await.map(drop)
    }

    /// Removes the workspace of an issue below a root there. If that is cut short, what is left counts as unfinished.
    pub async fn remove_workspace(&self, root: &Path, identifier: &str) -> Result<(), HookError> {
        let key = workspace::key(identifier);
        let script = format!(
            "cd -- {} 2>/dev/null || exit 0\nkey={}; mark={}\n\
             [ -e \"$mark\" ] || [ -e \"$key\" ] || [ -L \"$key\" ] || exit 0\n\
             : > \"$mark\" && rm -rf -- \"$key\" && rm -f -- \"$mark\"",
            quoted(&root.display().to_string()),
            quoted(&format!("./{key}")),
            quoted(&format!("./{}", workspace::mark(&key))),
        );
        self.run("workspace", &script, LIMIT).await.map(drop)
    }

    /// Ends every process there that has a variable with this value in its environment, and waits until it is gone.
    pub async fn end_marked(&self, variable: &str, value: &str) -> Result<(), HookError> {
        let mark = quoted(&format!("{variable}={value}"));
        let script = format!("{END_MARKED}end_marked {mark}");
        self.run("leftovers", &script, LIMIT).await.map(drop)
    }

    /// Runs a script of the workflow in a workspace there. What it leaves running ends with it.
    pub async fn hook(
        &self,
        name: &'static str,
        script: &str,
        workspace: &Path,
        variables: &Variables,
        limit: Duration,
    ) -> Result<(), HookError> {
        let exports: String = variables
            .iter()
            .map(|(name, value)| format!("export {name}={}\n", quoted(value)))
            .collect();
        let mark = mark();
        let script = format!(
            "{END_MARKED}cd -- {} || exit {NO_WORKSPACE}\n{exports}env {mark} timeout -k 5 {} bash -lc {}\n\
             status=$?; end_marked {mark}; [ $status = {UNREACHABLE} ] && status=1; exit $status",
            quoted(&workspace.display().to_string()),
            limit.as_secs_f64(),
            quoted(script),
        );
        self.run(name, &script, limit).await.map(drop)
    }

    /// Runs a script there to its end; what it wrote.
    async fn run(
        &self,
        name: &'static str,
        script: &str,
        limit: Duration,
    ) -> Result<String, HookError> {
        let mut argv = vec!["ssh".to_owned()];
        argv.extend(self.arguments(script));
        let done = hook::execute(name, argv, Path::new("/"), &Variables::new(), limit).await;
        done.map_err(|error| match error {
            HookError::Failed { code, output, .. } if code == Some(UNREACHABLE) => {
                let host = self.to_string();
                HookError::Unreachable { host, output }
            }
            error => error,
        })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.destination),
            None => f.write_str(&self.destination),
        }
    }
}

/// A function of bash that kills every process with a variable and its value in its environment, until none is left.
/// Only Linux shows the environment of processes; elsewhere it finds nothing.
const END_MARKED: &str = r#"end_marked() {
  for round in {1..100}; do
    found=$(grep -lszFx -e "$1" /proc/[0-9]*/environ)
    [ -n "$found" ] || return 0
    for it in $found; do it=${it%/environ}; kill -KILL "${it#/proc/}" 2>/dev/null; done
    sleep 0.05
  done
}
"#;

/// A variable with a value that nothing else has.
fn mark() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let random = RandomState::new().build_hasher().finish();
    format!("QUIPU_SSH_RUN={}-{random:016x}", std::process::id())
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_users_and_ports_and_cannot_be_options() {
        let host = |text| Host::new(text, None).map(|it| (it.destination, it.port));
        assert_eq!(host("build-1"), Ok(("build-1".into(), None)));
        assert_eq!(host("me@build:2222"), Ok(("me@build".into(), Some(2222))));
        assert_eq!(host("ssh://me@build:2222").map(|it| it.1), Ok(None));
        assert_eq!(host("::1"), Ok(("::1".into(), None)));
        for wrong in ["", "-oProxyCommand=x", "a b", "a:port", "a\nb"] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_stay_one_word() {
        assert_eq!(quoted("a'b $x"), r"'a'\''b $x'");
    }
}
