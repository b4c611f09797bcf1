//! Telling operands from options, and making paths short enough to show.

/// The words that are not options, with the values of `value_flags` skipped.
///
/// After `--` every word counts.
pub(super) fn operands<'a>(args: &'a [String], value_flags: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if arg == "--" {
            found.extend(args.by_ref());
        } else if value_flags.contains(&arg) {
            args.next();
        } else if !arg.starts_with('-') {
            found.push(arg);
        }
    }
    found
}

/// Like [`operands`], but a word that looks like an option is none even after `--`.
pub(super) fn plain_operands<'a>(args: &'a [String], value_flags: &[&str]) -> Vec<&'a str> {
    let mut found = operands(args, value_flags);
    found.retain(|word| !word.starts_with('-'));
    found
}

/// The part of a path that says most: its last component that is not a customary directory.
pub(super) fn short(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.trim_end_matches('/');
    path.rsplit('/')
        .find(|part| {
            !part.is_empty() && !matches!(*part, "build" | "dist" | "node_modules" | "src")
        })
        .unwrap_or(path)
        .to_owned()
}

/// `path` as seen after changing into `base`.
pub(super) fn join(base: &str, path: &str) -> String {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && chars.next() == Some('\\');
    if path.starts_with('/') || path.starts_with("\\\\") || drive || base.is_empty() {
        return path.to_owned();
    }
    let separator = if base.ends_with('/') { "" } else { "/" };
    format!("{base}{separator}{path}")
}
