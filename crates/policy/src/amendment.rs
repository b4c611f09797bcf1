//! Which prefix to offer when a person could allow more than this one command.

use quipu_wire::ExecPolicyAmendment;

use crate::judge::Judgement;

/// The model's own suggestion if it is narrow enough and settles the question, else the command
/// that caused the question, word for word.
pub(crate) fn propose(suggested: &[String], judgement: &Judgement) -> Option<ExecPolicyAmendment> {
    let usable = !suggested.is_empty() && !runs_anything(suggested);
    if usable && judgement.settled_by(suggested) {
        return Some(ExecPolicyAmendment(suggested.to_vec()));
    }
    judgement
        .first_prompted_by_default()
        .map(ExecPolicyAmendment)
}

/// Prefixes that allow any program whatever: interpreters and programs that start others.
fn runs_anything(prefix: &[String]) -> bool {
    let words: Vec<&str> = prefix.iter().map(String::as_str).collect();
    let Some((program, arguments)) = words.split_first() else {
        return true;
    };
    let flags: &[&str] = match *program {
        "env" | "git" | "osascript" | "sudo" => &[],
        "bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh" | "/bin/zsh" => &["-c", "-lc"],
        "py" | "pypy" | "pypy3" | "python" | "python3" | "pythonw" | "pyw" => &["-", "-c", "-3"],
        "lua" | "node" | "perl" | "php" | "ruby" => &["-e", "-r"],
        "powershell" | "powershell.exe" | "pwsh" => &["-Command", "-c"],
        _ => return false,
    };
    match arguments {
        [] => true,
        [flag] => flags.contains(flag),
        _ => false,
    }
}
