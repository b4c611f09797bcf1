//! One program at a time: what its arguments say it reads, lists or searches.

use quipu_wire::CommandAction;

use super::operands::{operands, plain_operands, short};

/// What one command contributes to a summary.
pub(super) enum Summary {
    Action(CommandAction),
    /// Later paths are relative to this directory, if it is known.
    ChangeDirectory(Option<String>),
}

const BAT_VALUES: &[&str] = &[
    "--language",
    "--line-range",
    "--map-syntax",
    "--style",
    "--tabs",
    "--terminal-width",
    "--theme",
];
const LESS_VALUES: &[&str] = &[
    "--jump-target",
    "--pattern",
    "--prompt",
    "--shift",
    "--tabs",
    "-P",
    "-j",
    "-p",
    "-x",
    "-y",
    "-z",
];
const LS_VALUES: &[&str] = &[
    "--block-size",
    "--color",
    "--format",
    "--quoting-style",
    "--time-style",
    "-I",
    "-w",
];
const EZA_VALUES: &[&str] = &[
    "--color",
    "--ignore-glob",
    "--sort",
    "--time",
    "--time-style",
    "-I",
];
const TREE_VALUES: &[&str] = &["--charset", "--filelimit", "--sort", "-I", "-L", "-P"];
const DU_VALUES: &[&str] = &[
    "--block-size",
    "--exclude",
    "--max-depth",
    "--time-style",
    "-B",
    "-d",
];
const RG_VALUES: &[&str] = &[
    "--context",
    "--glob",
    "--iglob",
    "--max-count",
    "--max-depth",
    "--type",
    "--type-add",
    "--type-not",
    "-A",
    "-B",
    "-C",
    "-g",
    "-m",
    "-t",
];
const GREP_VALUES: &[&str] = &[
    "--after-context",
    "--before-context",
    "--context",
    "--max-count",
    "-A",
    "-B",
    "-C",
    "-m",
];
const AG_VALUES: &[&str] = &[
    "--file-search-regex",
    "--ignore-dir",
    "--ignore-file",
    "--path-to-ignore",
    "-G",
    "-g",
];
const FD_VALUES: &[&str] = &[
    "--exclude",
    "--extension",
    "--search-path",
    "--type",
    "-E",
    "-e",
    "-t",
];

/// Summarises one command that is shown as `text`.
pub(super) fn summarise(words: &[String], text: String) -> Summary {
    let Some((program, args)) = words.split_first() else {
        return Summary::Action(CommandAction::Unknown { command: text });
    };
    if program == "cd" {
        return Summary::ChangeDirectory(cd_target(args));
    }
    let found = file_read(program, args)
        .or_else(|| files_listed(program, args))
        .or_else(|| text_searched(program, args))
        .unwrap_or(Found::Nothing);
    Summary::Action(match found {
        Found::Read(path) => CommandAction::Read {
            command: text,
            name: short(path),
            path: path.to_owned(),
        },
        Found::List(path) => CommandAction::ListFiles {
            command: text,
            path: path.map(short),
        },
        Found::Search(query, path) => CommandAction::Search {
            command: text,
            query: query.map(str::to_owned),
            path: path.map(short),
        },
        Found::Nothing => CommandAction::Unknown { command: text },
    })
}

/// What the arguments of one program say.
enum Found<'a> {
    Read(&'a str),
    List(Option<&'a str>),
    Search(Option<&'a str>, Option<&'a str>),
    Nothing,
}

fn file_read<'a>(program: &str, args: &'a [String]) -> Option<Found<'a>> {
    let path = match program {
        "cat" | "more" => only(operands(args, &[])),
        "bat" | "batcat" => only(operands(args, BAT_VALUES)),
        "less" => only(operands(args, LESS_VALUES)),
        "head" => lines_of(args, is_number),
        "tail" => lines_of(args, |n| is_number(n.strip_prefix('+').unwrap_or(n))),
        "awk" => awk_file(args),
        "nl" => first(plain_operands(args, &["-b", "-i", "-s", "-v", "-w"])),
        "sed" => sed_file(args),
        _ => None,
    }?;
    Some(Found::Read(path))
}

fn files_listed<'a>(program: &str, args: &'a [String]) -> Option<Found<'a>> {
    let value_flags = match program {
        "ls" => LS_VALUES,
        "eza" | "exa" => EZA_VALUES,
        "tree" => TREE_VALUES,
        "du" => DU_VALUES,
        _ => return python_lists(program, args).then_some(Found::List(None)),
    };
    Some(Found::List(first(operands(args, value_flags))))
}

fn text_searched<'a>(program: &str, args: &'a [String]) -> Option<Found<'a>> {
    match program {
        "rg" | "rga" | "ripgrep-all" => {
            let mut words = plain_operands(args, RG_VALUES).into_iter();
            if args.iter().any(|arg| arg == "--files") {
                return Some(Found::List(words.next()));
            }
            Some(Found::Search(words.next(), words.next()))
        }
        "grep" | "egrep" | "fgrep" => Some(grep(args)),
        "git" => match args.split_first()? {
            (sub, rest) if sub == "grep" => Some(grep(rest)),
            (sub, rest) if sub == "ls-files" => {
                let found = operands(rest, &["--exclude", "--exclude-from"]);
                Some(Found::List(first(found)))
            }
            _ => None,
        },
        "ag" | "ack" | "pt" => {
            let mut words = plain_operands(args, AG_VALUES).into_iter();
            Some(Found::Search(words.next(), words.next()))
        }
        "fd" => Some(fd(args)),
        "find" => Some(find(args)),
        _ => None,
    }
}

fn first(words: Vec<&str>) -> Option<&str> {
    words.first().copied()
}

fn only(words: Vec<&str>) -> Option<&str> {
    match words.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The file of `head` or `tail`: alone, or after a number of lines.
fn lines_of(args: &[String], is_count: fn(&str) -> bool) -> Option<&str> {
    let (flag, rest) = args.split_first()?;
    let rest = match flag.as_str() {
        "-n" => {
            let (count, rest) = rest.split_first()?;
            is_count(count).then_some(rest)?
        }
        file if !file.starts_with('-') => return rest.is_empty().then_some(file),
        joined => {
            let count = joined.strip_prefix("-n")?;
            is_count(count).then_some(rest)?
        }
    };
    rest.iter()
        .map(String::as_str)
        .find(|arg| !arg.starts_with('-'))
}

/// The first file that an `awk` program reads.
pub(super) fn awk_file(args: &[String]) -> Option<&str> {
    let words = plain_operands(
        args,
        &["--assign", "--field-separator", "--file", "-F", "-f", "-v"],
    );
    let from_file = args.iter().any(|arg| arg == "-f" || arg == "--file");
    words.get(usize::from(!from_file)).copied()
}

/// The file whose lines `sed -n` prints.
pub(super) fn sed_file(args: &[String]) -> Option<&str> {
    let prints_lines =
        args.iter().any(|arg| arg == "-n") && args.iter().any(|arg| is_line_range(arg));
    if !prints_lines {
        return None;
    }
    let words = plain_operands(args, &["--expression", "--file", "-e", "-f"]);
    let skip = usize::from(words.first().is_some_and(|word| is_line_range(word)));
    words.get(skip).copied()
}

/// `5p` or `1,5p`.
pub(crate) fn is_line_range(text: &str) -> bool {
    let Some(range) = text.strip_suffix('p') else {
        return false;
    };
    match range.split_once(',') {
        Some((from, to)) => is_number(from) && is_number(to),
        None => is_number(range),
    }
}

fn grep(args: &[String]) -> Found<'_> {
    let mut pattern = None;
    let mut words = Vec::new();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if arg == "--" {
            words.extend(args.by_ref());
        } else if matches!(arg, "-e" | "--regexp" | "-f" | "--file") {
            pattern = pattern.or(args.next());
        } else if GREP_VALUES.contains(&arg) {
            args.next();
        } else if !arg.starts_with('-') {
            words.push(arg);
        }
    }
    let mut words = words.into_iter();
    let query = pattern.or_else(|| words.next());
    Found::Search(query, words.next())
}

fn fd(args: &[String]) -> Found<'_> {
    match plain_operands(args, FD_VALUES).as_slice() {
        [] => Found::List(None),
        [path] if matches!(*path, "." | "..") || path.contains(['/', '\\']) => {
            Found::List(Some(path))
        }
        [query] => Found::Search(Some(query), None),
        [query, path, ..] => Found::Search(Some(query), Some(path)),
    }
}

fn find(args: &[String]) -> Found<'_> {
    let path = args
        .iter()
        .map(String::as_str)
        .find(|arg| !arg.starts_with('-') && !matches!(*arg, "!" | "(" | ")"));
    let query = args.windows(2).find_map(|pair| {
        matches!(pair[0].as_str(), "-name" | "-iname" | "-path" | "-regex").then(|| &*pair[1])
    });
    match query {
        Some(query) => Found::Search(Some(query), path),
        None => Found::List(path),
    }
}

/// A one-line Python script that walks directories.
fn python_lists(program: &str, args: &[String]) -> bool {
    let version = program.strip_prefix("python").and_then(|rest| {
        if rest.is_empty() {
            return Some(rest);
        }
        rest.strip_prefix(['2', '3'])
    });
    if !version.is_some_and(|v| v.chars().all(|c| c.is_ascii_digit() || c == '.')) {
        return false;
    }
    let Some(flag) = args.iter().position(|arg| arg == "-c") else {
        return false;
    };
    args.get(flag + 1).is_some_and(|script| {
        [
            "os.walk",
            "os.listdir",
            "os.scandir",
            "glob.glob",
            "glob.iglob",
            "pathlib.Path",
            ".rglob(",
        ]
        .iter()
        .any(|call| script.contains(call))
    })
}

fn cd_target(args: &[String]) -> Option<String> {
    if let Some(end) = args.iter().position(|arg| arg == "--") {
        return args.get(end + 1).cloned();
    }
    args.iter().rfind(|arg| !arg.starts_with('-')).cloned()
}
