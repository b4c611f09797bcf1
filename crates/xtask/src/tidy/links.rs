//! A link in a document leads somewhere: what it names inside the repository exists.

use super::Problem;
use crate::tree::Tree;

pub fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files().filter(|file| file.path.ends_with(".md")) {
        let directory = file
            .path
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory);
        for (line, target) in links(&file.text) {
            let found = resolve(directory, target).is_some_and(|path| tree.exists(&path));
            if !found {
                problems.push(Problem::at(
                    file,
                    line,
                    format!("`{target}` does not exist"),
                ));
            }
        }
    }
    problems
}

/// Line and target of every link to a file, without its anchor.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let targets = targets(line).filter_map(file_target);
            links.extend(targets.map(|target| (number, target)));
        }
    }
    links
}

/// The targets of inline links, outside code spans, and of a reference definition.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let definition = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "));
    let inline = line.split("](").scan(0_usize, |backticks, piece| {
        let in_code = *backticks % 2 == 1;
        *backticks += piece.matches('`').count();
        Some((!in_code).then_some(piece))
    });
    let inline = inline
        .skip(1)
        .flatten()
        .filter_map(|piece| piece.split(')').next());
    inline.chain(definition.map(|(_, target)| target))
}

/// The path part of a target, when it names a file.
fn file_target(target: &str) -> Option<&str> {
    let target = target
        .trim()
        .split([' ', '#'])
        .next()?
        .trim_matches(['<', '>']);
    let elsewhere = target.contains("://") || target.starts_with("mailto:");
    (!target.is_empty() && !elsewhere).then_some(target)
}

/// The path from the root; nothing when it leaves the repository.
fn resolve(directory: &str, target: &str) -> Option<String> {
    let mut path: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => directory
            .split('/')
            .filter(|part| !part.is_empty())
            .collect(),
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()?),
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    fn check(text: &str, expected: &[&str]) {
        let files = [("LICENSE", ""), ("docs/a.md", text), ("docs/b.md", "")];
        assert_says(super::check, &files, expected);
    }

    #[test]
    fn links_that_resolve_pass() {
        check(
            "[b](b.md#top), [l](../LICENSE \"title\"), [d](/docs/), [x](https://a.b/c), [t](#t)\n",
            &[],
        );
        check("[b]: b.md\n", &[]);
    }

    #[test]
    fn links_that_do_not_are_reported() {
        check(
            "[a](a.md) [c](c.md)\n[up](../../x)\n[d]: d.md\n",
            &[
                "docs/a.md:1: `c.md` does not exist",
                "docs/a.md:2: `../../x` does not exist",
                "docs/a.md:3: `d.md` does not exist",
            ],
        );
    }

    #[test]
    fn code_is_not_a_link() {
        check("`a[i](x)` and `[c](d)`\n```\n[c](c.md)\n```\n", &[]);
    }
}
