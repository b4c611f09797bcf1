//! What a command line looks like to a person: which files it reads, lists or searches.
//!
//! Clients show these summaries instead of shell text (`commandActions`). They decide nothing. When
//! any part of a command line is not understood, the whole becomes one `unknown`, so that a summary
//! never hides a command.

mod helpers;
mod operands;
mod programs;

pub(crate) use programs::is_line_range;

use quipu_wire::CommandAction;

use crate::bash::{Script, parse_script, script_of};
use crate::command_line::display;
use programs::Summary;

/// The actions of a command line, in the order in which they run.
#[must_use]
pub fn command_actions(argv: &[String]) -> Vec<CommandAction> {
    if let Some(script) = powershell_script(argv) {
        return unknown(script);
    }
    let Some(script) = script_of(argv) else {
        let line = display(argv);
        return if argv.is_empty() {
            unknown(&line)
        } else {
            collect(segments(argv), &line)
        };
    };
    match parse_script(script) {
        Script::Plain(commands) => {
            let commands = commands.into_iter().map(|command| command.words).collect();
            script_actions(script, commands)
        }
        Script::HereDoc { .. } | Script::Opaque => unknown(script),
    }
}

fn unknown(line: &str) -> Vec<CommandAction> {
    vec![CommandAction::Unknown {
        command: line.to_owned(),
    }]
}

/// One command with the text it is shown as.
struct Segment {
    words: Vec<String>,
    text: String,
}

impl Segment {
    fn new(words: Vec<String>) -> Segment {
        let text = display(&words);
        Segment { words, text }
    }
}

fn script_actions(script: &str, mut commands: Vec<Vec<String>>) -> Vec<CommandAction> {
    let tokens = shlex::split(script).unwrap_or_default();
    let joined = tokens.iter().any(|token| is_connector(token));
    if commands.len() == 1 {
        let mut segment = Segment::new(commands.remove(0));
        if !joined && !tokens.is_empty() {
            segment.text = display(&tokens);
        }
        return collect(vec![segment], script);
    }
    commands.retain(|words| !helpers::only_formats(words));
    if commands.is_empty() {
        return unknown(script);
    }
    let segments = commands.into_iter().map(Segment::new).collect();
    let mut actions = collect(segments, script);
    // A file cut by `sed -n` further down the pipe is shown with the lines that were asked for.
    let cut = tokens.iter().any(|token| token == "|")
        && tokens.windows(2).any(|pair| pair == ["sed", "-n"]);
    if let [CommandAction::Read { command, .. }] = actions.as_mut_slice()
        && cut
    {
        script.clone_into(command);
    }
    actions
}

/// Summarises each segment; `line` is the whole for the case that one of them is not understood.
fn collect(segments: Vec<Segment>, line: &str) -> Vec<CommandAction> {
    let mut directory: Option<String> = None;
    let mut found = Vec::new();
    for segment in segments {
        let noise = Noise::of(&segment.words);
        match programs::summarise(&segment.words, segment.text) {
            Summary::ChangeDirectory(target) => {
                directory = match (directory, target) {
                    (Some(base), Some(target)) => Some(operands::join(&base, &target)),
                    (base, target) => target.or(base),
                };
            }
            Summary::Action(mut action) => {
                if let (CommandAction::Read { path, .. }, Some(base)) = (&mut action, &directory) {
                    *path = operands::join(base, path);
                }
                found.push((noise, action));
            }
        }
    }
    drop_noise(&mut found);
    let mut actions: Vec<CommandAction> = found.into_iter().map(|(_, action)| action).collect();
    actions.dedup();
    if actions.iter().any(is_unknown) {
        return unknown(line);
    }
    actions
}

/// Commands that say nothing next to others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noise {
    True,
    Echo,
    Numbering,
    No,
}

impl Noise {
    fn of(words: &[String]) -> Noise {
        match words.split_first() {
            Some((program, [])) if program == "true" => Noise::True,
            Some((program, _)) if program == "echo" => Noise::Echo,
            Some((program, args))
                if program == "nl" && args.iter().all(|arg| arg.starts_with('-')) =>
            {
                Noise::Numbering
            }
            _ => Noise::No,
        }
    }
}

/// Drops `true` and `nl` without a file anywhere, and `echo` in front, next to something else.
fn drop_noise(found: &mut Vec<(Noise, CommandAction)>) {
    if found.len() > 1 {
        found.retain(|(noise, _)| *noise != Noise::True);
    }
    while found.len() > 1 {
        let next = if found[0].0 == Noise::Echo {
            Some(0)
        } else {
            found
                .iter()
                .position(|(noise, _)| *noise == Noise::Numbering)
        };
        let Some(index) = next else { break };
        found.remove(index);
    }
}

fn is_unknown(action: &CommandAction) -> bool {
    matches!(action, CommandAction::Unknown { .. })
}

fn is_connector(word: &str) -> bool {
    matches!(word, "&&" | "||" | "|" | ";")
}

/// The commands of an argument vector that holds connectors as words of their own.
fn segments(argv: &[String]) -> Vec<Segment> {
    let argv = match argv {
        [answer, pipe, rest @ ..]
            if matches!(answer.as_str(), "yes" | "y" | "no" | "n") && pipe == "|" =>
        {
            rest
        }
        _ => argv,
    };
    argv.split(|word| is_connector(word))
        .filter(|words| !words.is_empty())
        .map(|words| Segment::new(words.to_vec()))
        .collect()
}

/// The script given to PowerShell, which is shown but never looked into.
fn powershell_script(argv: &[String]) -> Option<&str> {
    let (program, args) = argv.split_first()?;
    let name = program.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    if !matches!(name, "pwsh" | "powershell") {
        return None;
    }
    let is = |arg: &String, flags: [&str; 2]| flags.iter().any(|f| arg.eq_ignore_ascii_case(f));
    let flag = args
        .iter()
        .position(|arg| !is(arg, ["-NoLogo", "-NoProfile"]))?;
    if !is(&args[flag], ["-Command", "-c"]) {
        return None;
    }
    args.get(flag + 1).map(String::as_str)
}
