//! Other machines as workers, reached by the `ssh` program: what runs there runs for as long as the connection lives.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::hook::{self, HookError, Variables};
use crate::workspace::{self, Workspace};

/// The exit code by which `ssh` says that it could not reach the host.
pub(crate) const UNREACHABLE: i32 = 255;
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
    /// ends, so does the input of the server, and five seconds later everything in its process group.
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
        let script = format!(
            "cd {} || exit {NO_WORKSPACE}\nexec bash -lc {} < <(exec 2>/dev/null; cat; sleep 5; kill -KILL -- -$$)",
            quoted(workspace),
            quoted(&line),
        );
        self.arguments(&script)
    }

    /// Finds or makes the workspace of an issue below a root there.
    pub async fn create_workspace(
        &self,
        root: &Path,
        identifier: &str,
    ) -> Result<Workspace, HookError> {
        let key = workspace::key(identifier);
        let script = format!(
            "root={}; key={}\nmkdir -p -- \"$root\" && cd -- \"$root\" || exit {NO_WORKSPACE}\n\
             if mkdir -- \"$key\" 2>/dev/null; then made=created; else made=reused; fi\n\
             if [ -L \"$key\" ] || [ ! -d \"$key\" ]; then echo \"$root/$key is not a directory\"; exit {NO_WORKSPACE}; fi\n\
             cd -- \"$key\" && printf '%s %s\\n' \"$made\" \"$(pwd -P)\"",
            quoted(&root.display().to_string()),
            quoted(&key),
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
                output,
            }),
        }
    }

    /// Removes the workspace of an issue below a root there.
    pub async fn remove_workspace(&self, root: &Path, identifier: &str) -> Result<(), HookError> {
        let script = format!(
            "cd -- {} 2>/dev/null || exit 0\nrm -rf -- {}",
            quoted(&root.display().to_string()),
            quoted(&format!("./{}", workspace::key(identifier))),
        );
        self.run("workspace", &script, LIMIT).await.map(drop)
    }

    /// Runs a script of the workflow in a workspace there.
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
        let script = format!(
            "cd -- {} || exit {NO_WORKSPACE}\n{exports}exec timeout -k 5 {} bash -lc {}",
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
        hook::execute(name, argv, Path::new("/"), &Variables::new(), limit).await
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
