//! The splitter held against the shell itself: the commands it finds in a script are those that bash runs.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use quipu_policy::bash::{Script, parse_script};

const SCRIPTS: usize = 2_000;

/// Reads scripts that end in NUL and writes, instead of running them, the number and the text of the words of each
/// command, then `end`, all with a NUL behind.
const HARNESS: &str = r#"
PATH=/nowhere
HOME='~'
enable -n '['
command_not_found_handle() { printf '%s\0' "$#" "$@" >&3; }
while IFS= read -r -d '' script; do
    (eval -- "$script") </dev/null >/dev/null 2>&1
    printf 'end\0' >&3
done
"#;

/// Names that are no builtins, joined by what runs every command whatever the others return.
fn piece() -> impl Strategy<Value = String> {
    let common = vec![
        " ", " ", " ", "\n", "; ", " && ", " | ", "lsx", "gitx", "-l", "b.c", "x=1", "1", "'q r'",
        "\"s t\"",
    ];
    let rare = vec![
        "'", "\"", "\\", "$", "`", "(", ")", "<", ">", "&", "|", ";", "#", "!", "*", "?", "[", "]",
        "~", "=", "\\\n", "\t", "\r", "é", "\u{a0}", "<<E\n", "E\n", "if", "then", "fi", "for",
        "[[", "2>&1", "$'x'", "\\'", "\\\"",
    ];
    prop_oneof![5 => prop::sample::select(common), 1 => prop::sample::select(rare)]
        .prop_map(str::to_owned)
}

fn plain(script: &str) -> Option<Vec<Vec<String>>> {
    // After the first that succeeds, the others would not run.
    if script.contains("||") {
        return None;
    }
    match parse_script(script) {
        Script::Plain(commands) => Some(commands.into_iter().map(|it| it.resolved).collect()),
        Script::HereDoc { .. } | Script::Opaque => None,
    }
}

/// Scripts that the splitter takes apart, and what it finds.
fn samples() -> BTreeMap<String, Vec<Vec<String>>> {
    let mut runner = TestRunner::default();
    let pieces = prop::collection::vec(piece(), 1..12);
    let mut found = BTreeMap::new();
    while found.len() < SCRIPTS {
        let script = pieces.new_tree(&mut runner).unwrap().current().concat();
        if let Some(commands) = plain(&script) {
            found.insert(script, commands);
        }
    }
    found
}

#[expect(
    clippy::disallowed_methods,
    reason = "the shell is what is compared with"
)]
fn by_bash(scripts: impl Iterator<Item = String> + Send) -> Vec<Vec<Vec<String>>> {
    let directory = tempfile::tempdir().unwrap();
    let mut bash = Command::new("bash")
        .args([
            "--norc",
            "--noprofile",
            "-c",
            &format!("exec 3>&1; {HARNESS}"),
        ])
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = bash.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            for script in scripts {
                stdin.write_all(format!("{script}\0").as_bytes()).unwrap();
            }
        });
        bash.wait_with_output().unwrap()
    });
    let output = String::from_utf8(output.stdout).unwrap();
    let mut parts = output.split_terminator('\0').map(str::to_owned);
    let mut all = vec![Vec::new()];
    while let Some(part) = parts.next() {
        match part.parse() {
            Ok(count) => all
                .last_mut()
                .unwrap()
                .push(parts.by_ref().take(count).collect()),
            Err(_) => all.push(Vec::new()),
        }
    }
    all.pop();
    all
}

#[test]
fn what_is_plain_is_what_bash_runs() {
    let samples = samples();
    let ran = by_bash(samples.keys().cloned());
    assert_eq!(ran.len(), samples.len());
    for ((script, mut found), mut ran) in samples.into_iter().zip(ran) {
        // The commands of a pipeline run at once.
        found.sort();
        ran.sort();
        assert_eq!(found, ran, "{script:?}");
    }
}
