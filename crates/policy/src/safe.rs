//! Commands that only look: they may run without a question, still inside the sandbox.
//!
//! The list names programs and, where a program can also write or start others, the arguments that
//! take it off the list. It is kept strict on purpose: what is missing here is merely asked about.

use crate::actions::is_line_range;
use crate::bash::{Command, Script, parse_script, script_of};

/// Directories whose programs are what their names say: a sandboxed command cannot write there.
const SYSTEM_DIRECTORYS: [&str; 6] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/opt/homebrew/bin/",
];

/// Whether a command is known to only look.
///
/// Both readings must be safe: which one the program gets depends on the shell's unescaping.
#[must_use]
pub fn is_known_safe(command: &Command) -> bool {
    let scripts = command.readings().filter_map(script_of);
    let mut nested = scripts.map(parse_script).peekable();
    if nested.peek().is_none() {
        return is_safe_program(command);
    }
    // What the outer shell might still expand would become part of the nested script.
    command.expands_at.is_none()
        && system_name(&command.words[0]).is_some()
        && nested.all(|script| match script {
            Script::Plain(commands) => commands.iter().all(is_safe_program),
            Script::HereDoc { .. } | Script::Opaque => false,
        })
}

fn is_safe_program(command: &Command) -> bool {
    command.readings().all(|words| match words.split_first() {
        Some((program, args)) => is_safe(program, args, command.can_gain_options),
        None => false,
    })
}

/// Whether a command that only looks also does nothing else when no sandbox holds it: `git` starts what
/// the settings of a repository name, and a shell runs a script that is judged for the sandbox.
pub(crate) fn is_inert(command: &Command) -> bool {
    let name = command
        .resolved
        .first()
        .and_then(|program| system_name(program));
    name.is_some_and(|name| !matches!(name, "git" | "bash" | "sh" | "zsh"))
}

fn is_safe(program: &str, args: &[String], can_gain_options: bool) -> bool {
    let Some(name) = system_name(program) else {
        return false;
    };
    match name {
        "cat" | "cd" | "cut" | "echo" | "expr" | "false" | "grep" | "head" | "id" | "ls" | "nl"
        | "paste" | "pwd" | "rev" | "seq" | "stat" | "tail" | "tr" | "true" | "uname" | "wc"
        | "which" | "whoami" => true,
        "numfmt" | "tac" => cfg!(target_os = "linux"),
        // For the rest the arguments decide, so all must be known.
        _ if can_gain_options => false,
        "base64" => !args
            .iter()
            .any(|arg| arg.starts_with("-o") || arg == "--output" || arg.starts_with("--output=")),
        "find" => !args.iter().any(|arg| {
            matches!(
                arg.as_str(),
                "-delete"
                    | "-exec"
                    | "-execdir"
                    | "-fls"
                    | "-fprint"
                    | "-fprint0"
                    | "-fprintf"
                    | "-ok"
                    | "-okdir"
            )
        }),
        "git" => git_only_looks(args),
        "rg" => !args.iter().any(|arg| {
            matches!(
                arg.split('=').next(),
                Some("--pre" | "--hostname-bin" | "--search-zip" | "-z")
            )
        }),
        "sed" => match args {
            [flag, range] => flag == "-n" && is_line_range(range),
            [flag, range, file] => {
                let is_file = file == "-" || !file.starts_with('-');
                flag == "-n" && is_line_range(range) && is_file
            }
            _ => false,
        },
        // The second file is written; a dash alone is a file, too, and so is all after two.
        "uniq" => {
            let files = args
                .iter()
                .filter(|arg| !arg.starts_with('-') || *arg == "-");
            files.count() < 2 && !args.iter().any(|arg| arg == "--")
        }
        _ => false,
    }
}

/// The name of a program that is found by name or lies in a system directory.
pub(crate) fn system_name(program: &str) -> Option<&str> {
    if !program.contains(['/', '\\']) {
        return Some(program);
    }
    SYSTEM_DIRECTORYS.iter().find_map(|directory| {
        let name = program.strip_prefix(directory)?;
        (!name.contains('/')).then_some(name)
    })
}

fn git_only_looks(args: &[String]) -> bool {
    let redirects_git = |arg: &String| {
        let changes_config = arg.starts_with("-c");
        changes_config
            || matches!(
                arg.split('=').next(),
                Some(
                    "--config-env"
                        | "--exec-path"
                        | "--git-dir"
                        | "--namespace"
                        | "--super-prefix"
                        | "--work-tree"
                )
            )
    };
    if args.iter().any(redirects_git) {
        return false;
    }
    let mut rest = args.iter().map(String::as_str);
    let subcommand = loop {
        match rest.next() {
            Some("-C") => drop(rest.next()),
            Some(flag) if flag.starts_with('-') => {}
            word => break word,
        }
    };
    let mut rest = rest.peekable();
    let listing = matches!(
        subcommand,
        Some("status" | "log" | "diff" | "show" | "branch")
    );
    let is_branch = subcommand == Some("branch");
    listing
        && rest.all(|arg| {
            let runs_or_writes = matches!(
                arg.split('=').next(),
                Some("--output" | "--exec" | "--ext-diff" | "--textconv" | "--paginate")
            );
            !runs_or_writes && (!is_branch || lists_branches(arg))
        })
}

fn lists_branches(arg: &str) -> bool {
    matches!(
        arg,
        "--list"
            | "-l"
            | "--show-current"
            | "-a"
            | "--all"
            | "-r"
            | "--remotes"
            | "-v"
            | "-vv"
            | "--verbose"
    ) || arg.starts_with("--format=")
}
