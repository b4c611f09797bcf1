//! What `/diff` shows: changes since the last commit, and files that git does not know yet.

use quipu_client::wire::{CommandExecParams, CommandExecResponse};
use quipu_client::{Client, Error};

/// The tree without files, which a repository without commits is compared with.
const NOTHING: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// New files that are shown; others are only counted.
const NEW_FILES: usize = 50;

/// The changes in a directory, or why git has none to show.
pub async fn uncommitted(client: &Client, cwd: &str) -> Result<Result<String, String>, Error> {
    let head = git(client, cwd, &["rev-parse", "--verify", "--quiet", "HEAD"]).await?;
    let since = if head.exit_code == 0 { "HEAD" } else { NOTHING };
    let changed = git(client, cwd, &["diff", "--no-color", since]).await?;
    if changed.exit_code != 0 {
        let why = changed.stderr.lines().next().unwrap_or("git failed");
        return Ok(Err(why.to_owned()));
    }
    let mut text = changed.stdout;
    let list = ["ls-files", "--others", "--exclude-standard", "-z"];
    let found = git(client, cwd, &list).await?.stdout;
    let new: Vec<_> = found.split('\0').filter(|it| !it.is_empty()).collect();
    for path in new.iter().take(NEW_FILES) {
        let show = ["diff", "--no-color", "--no-index", "--", "/dev/null", path];
        text.push_str(&git(client, cwd, &show).await?.stdout);
    }
    if let Some(more) = new.len().checked_sub(NEW_FILES).filter(|it| *it > 0) {
        text.push_str(&format!("and {more} more new files\n"));
    }
    Ok(Ok(text))
}

async fn git(client: &Client, cwd: &str, args: &[&str]) -> Result<CommandExecResponse, Error> {
    let command = ["git", "--no-pager"].iter().chain(args);
    let params = CommandExecParams {
        command: command.map(|it| (*it).to_owned()).collect(),
        cwd: Some(cwd.to_owned()),
        ..CommandExecParams::default()
    };
    client.exec_command(params).await
}
