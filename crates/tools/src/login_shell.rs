//! What the user's login shell defines, read once so that not every command has to read the profile again.
//!
//! A command `bash -lc SCRIPT` becomes `bash -c SCRIPT` with the variables, functions, aliases and options that the
//! profile left behind, and without what it prints. The profile runs in the sandbox of the turn, within a time
//! limit, and again only when the sandbox, the directory or the environment has changed. What it defined stays in
//! memory and reaches commands through their environment: files and command lines can be read by others. A shell that
//! cannot say what it has defined, or that takes too long, reads its profile for every command, as before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use quipu_sandbox::{Command, Exit, Network as Reach, Spawned, Stream};
use quipu_wire::SandboxPolicy;
use tokio::sync::OnceCell;

use crate::call::Running;
use crate::sandboxing;

/// How long the profile may take.
const LIMIT: Duration = Duration::from_secs(10);
/// The most that the shell may say about itself.
const MAX_OUTPUT: usize = 1 << 20;
/// The most that fits into one variable.
const MAX_DEFINITIONS: usize = 96 * 1024;
/// The variable that carries the definitions.
const VARIABLE: &str = "QUIPU_SHELL_DEFINITIONS";
/// Makes bash say what it has defined: options, functions and aliases, then variables, each after a mark.
const TELL: &str =
    "printf %s \"$1\";shopt -p;set +o;declare -f;alias -p;printf %s \"$1\";command env -0";
/// Variables that every shell sets for itself.
const OWN: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// What the profile left behind under certain circumstances, once one command has read it. Commands that need it
/// meanwhile wait for that one.
#[derive(Default)]
pub(crate) struct Cache(Option<(Circumstances, Definitions)>);

type Definitions = Arc<OnceCell<Option<Arc<LoginShell>>>>;

impl Cache {
    fn get(&mut self, circumstances: Circumstances) -> Definitions {
        let known = self.0.take_if(|(when, _)| *when == circumstances);
        let known = known.unwrap_or_else(|| (circumstances, Definitions::default()));
        Arc::clone(&self.0.insert(known).1)
    }
}

/// What the outcome of the profile may depend on.
#[derive(PartialEq)]
pub(crate) struct Circumstances {
    shell: String,
    sandbox: SandboxPolicy,
    cwd: PathBuf,
    env: Vec<(String, String)>,
}

/// What the profile left behind.
#[derive(Debug, PartialEq)]
pub(crate) struct LoginShell {
    /// Variables that it set.
    set: BTreeMap<String, String>,
    /// Variables that it removed.
    removed: BTreeSet<String>,
    /// Options, functions and aliases, as a script.
    definitions: String,
}

/// A command that needs no login shell.
pub(crate) struct Prepared {
    pub argv: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
}

/// The same command without a login shell, if it asks for one and what that defines is known.
pub(crate) async fn prepare(run: &Running, argv: &[String]) -> Option<Prepared> {
    let scope = &run.scope;
    let [shell, option, script] = argv else {
        return None;
    };
    let wanted = scope.features.shell_snapshot && option == "-lc";
    if !wanted || *shell != scope.shell || !shell.ends_with("/bash") {
        return None;
    }
    let circumstances = Circumstances {
        shell: shell.clone(),
        sandbox: scope.sandbox.clone(),
        cwd: scope.cwd.clone(),
        env: scope.env.clone(),
    };
    let definitions = run.toolbox(|it| it.login_shell.get(circumstances)).await;
    let reading = definitions.get_or_try_init(|| async {
        let found = read(run).await.map(Arc::new);
        // A profile that was interrupted says nothing.
        (!run.cancel.is_cancelled()).then_some(found).ok_or(())
    });
    let found = reading.await.ok()?.as_ref();
    Some(found?.apply(shell, script, &scope.env))
}

impl LoginShell {
    fn apply(&self, shell: &str, script: &str, env: &[(String, String)]) -> Prepared {
        let kept = env.iter().filter(|(name, _)| {
            !self.set.contains_key(name.as_str()) && !self.removed.contains(name.as_str())
        });
        let set = self.set.iter();
        let mut env: Vec<_> = kept.cloned().collect();
        env.extend(set.map(|(name, value)| (name.clone(), value.clone())));
        env.push((VARIABLE.to_owned(), self.definitions.clone()));
        // Aliases count only for what is read after them, so the script is read last. Options that belong to
        // login shells cannot be set, which nobody needs to know.
        let start = format!("eval \"${VARIABLE}\" 2>/dev/null;unset {VARIABLE};eval \"set --;$1\"");
        let argv = [shell, "-c", &start, shell, script];
        Prepared {
            argv: argv.map(str::to_owned).to_vec(),
            env,
        }
    }

    /// Reads what the shell said: noise of the profile, definitions, and the variables.
    fn parse(
        output: &[u8],
        mark: &str,
        before: &[(String, String)],
        drops: impl Fn(&str) -> bool,
    ) -> Option<LoginShell> {
        let text = std::str::from_utf8(output).ok()?;
        let mut parts = text.split(mark).skip(1);
        let (definitions, variables) = (parts.next()?, parts.next()?);
        if definitions.len() > MAX_DEFINITIONS || parts.next().is_some() {
            return None;
        }
        let before: BTreeMap<&str, &str> = before
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let after: BTreeMap<&str, &str> = variables
            .split('\0')
            .filter_map(|variable| variable.split_once('='))
            .filter(|(name, _)| !OWN.contains(name))
            .collect();
        let is_new = |(name, value): &(&&str, &&str)| before.get(*name) != Some(*value);
        let removed = before.keys().filter(|name| !after.contains_key(*name));
        Some(LoginShell {
            removed: removed
                .filter(|name| !OWN.contains(name))
                .map(|name| (*name).to_owned())
                .collect(),
            set: after
                .iter()
                .filter(is_new)
                .filter(|(name, _)| !drops(name))
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            definitions: definitions.trim_matches('\n').to_owned(),
        })
    }
}

/// Runs the profile. `None` if it fails, takes too long or is cancelled.
async fn read(run: &Running) -> Option<LoginShell> {
    let scope = &run.scope;
    let mark = format!("\n{}\n", uuid::Uuid::new_v4());
    let argv = [&scope.shell, "-lc", TELL, &scope.shell, &mark];
    let mut policy = sandboxing::policy_of(scope);
    if scope.network.is_some() {
        policy = policy.with_network(Reach::Off);
    }
    let offline = policy.is_enforced() && policy.network() == Reach::Off;
    let mut env = scope.env.clone();
    env.retain(|(name, _)| !offline || !scope.withholds.drops(name));
    let mut command = Command::new(argv, &scope.cwd, policy);
    command.enforcement = scope.features.enforcement();
    let variables = env.iter();
    command.env = variables
        .map(|(key, value)| (key.into(), value.into()))
        .collect();
    let spawned = quipu_sandbox::spawn(command).await;
    let spawned = spawned
        .inspect_err(|error| tracing::warn!(%error, "cannot start the login shell"))
        .ok()?;
    let output = tokio::select! {
        output = collect(spawned) => output?,
        () = tokio::time::sleep(LIMIT) => {
            tracing::warn!(limit = ?LIMIT, "the login shell takes too long; every command reads the profile");
            return None;
        }
        () = run.cancel.cancelled() => return None,
    };
    LoginShell::parse(&output, &mark, &env, |name| scope.drops.drops(name))
}

/// The standard output of a command that succeeds. Dropped before its end, the command is killed.
async fn collect(spawned: Spawned) -> Option<Vec<u8>> {
    let Spawned {
        process,
        mut output,
    } = spawned;
    let mut collected = Vec::new();
    while let Some(chunk) = output.next().await {
        if chunk.stream == Stream::Stdout {
            collected.extend_from_slice(&chunk.bytes);
        }
        if collected.len() > MAX_OUTPUT {
            return None;
        }
    }
    (process.wait().await == Exit::Code(0)).then_some(collected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(env: &[(&str, &str)]) -> Vec<(String, String)> {
        env.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn only_what_the_profile_changed_is_kept() {
        let output = b"noise\nMARK\nf () \n{ \n    :\n}\nMARK\nA=1\0B=new\0C=line\nline=x\0TOKEN=t\0SHLVL=2\0PWD=/x\0";
        let before = owned(&[("A", "1"), ("B", "old"), ("GONE", "x")]);
        let found = LoginShell::parse(output, "\nMARK\n", &before, |name| name == "TOKEN").unwrap();
        let set = owned(&[("B", "new"), ("C", "line\nline=x")]);
        assert_eq!(found.set, set.into_iter().collect());
        assert_eq!(found.removed, BTreeSet::from(["GONE".to_owned()]));
        assert_eq!(found.definitions, "f () \n{ \n    :\n}");
        let prepared = found.apply("/bin/bash", "f", &before);
        let names: Vec<&str> = prepared.env.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["A", "B", "C", VARIABLE]);
    }

    #[test]
    fn what_cannot_be_read_is_no_snapshot() {
        let parse = |output: &[u8]| LoginShell::parse(output, "MARK", &[], |_| false);
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"MARK"), None);
        assert_eq!(parse(b"MARKMARKMARK"), None);
        assert_eq!(parse(b"MARK\xff\xffMARK"), None);
        let long = format!("MARK{}MARK", "x".repeat(MAX_DEFINITIONS + 1));
        assert_eq!(parse(long.as_bytes()), None);
    }
}
