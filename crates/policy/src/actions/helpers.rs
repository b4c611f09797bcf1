//! Commands that only shape the output of others, and are left out of a summary.

use super::programs::{awk_file, sed_file};

/// Whether a command of a longer script only formats text on its way.
pub(super) fn only_formats(words: &[String]) -> bool {
    let Some((program, args)) = words.split_first() else {
        return true;
    };
    match program.as_str() {
        "wc" | "tr" | "cut" | "sort" | "uniq" | "tee" | "column" | "yes" | "printf" => true,
        "head" | "tail" => limits_lines(program, args),
        "sed" => sed_file(args).is_none(),
        "awk" => awk_file(args).is_none(),
        "xargs" => !rewrites_files(args),
        _ => false,
    }
}

/// `head` or `tail` without a file.
fn limits_lines(program: &str, args: &[String]) -> bool {
    match args {
        [] => true,
        [flag] => flag.starts_with('-'),
        [flag, count] => {
            let digits = match program {
                "tail" => count.strip_prefix('+').unwrap_or(count),
                _ => count,
            };
            matches!(flag.as_str(), "-n" | "-c") && digits.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    }
}

/// `xargs` with a program that edits files in place.
fn rewrites_files(args: &[String]) -> bool {
    let mut args = args.iter().map(String::as_str);
    let program = loop {
        match args.next() {
            Some("--") => break args.next(),
            Some("-E" | "-I" | "-L" | "-n" | "-P" | "-s") => drop(args.next()),
            Some(flag) if flag.starts_with('-') => {}
            program => break program,
        }
    };
    match program {
        Some("sed") => args.any(|arg| arg.starts_with("-i") || arg == "--in-place"),
        Some("perl" | "ruby") => args.any(|arg| arg.starts_with("-i") || arg.starts_with("-pi")),
        Some("rg") => args.any(|arg| arg == "--replace"),
        _ => false,
    }
}
