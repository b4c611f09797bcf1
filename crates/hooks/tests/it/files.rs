//! What is read of `hooks.json` files, and what is left out.

use std::fs;
use std::path::Path;

use quipu_hooks::Hooks;
use quipu_wire::HookEventName::{self, PreToolUse, SessionStart, Stop, UserPromptSubmit};
use tempfile::TempDir;

const OK: &str = r#"{"type":"command","command":"true"}"#;

fn write(directory: &Path, text: &str) {
    fs::create_dir_all(directory).expect("a directory");
    fs::write(directory.join("hooks.json"), text).expect("a file");
}

/// What a single file yields: the orders of an event's handlers, and the problems without the path.
fn loaded(text: &str, event: HookEventName, subject: &str) -> (Vec<i64>, Vec<String>) {
    let home = TempDir::new().expect("a directory");
    write(home.path(), text);
    let (hooks, problems) = Hooks::load(&[home.path()]);
    let orders = hooks.matching(event, subject).into_iter();
    let orders = orders.map(|it| it.started(0).display_order).collect();
    (orders, problems.into_iter().map(|it| it.what).collect())
}

#[test]
fn handlers_are_counted_over_all_files_in_the_order_of_events() {
    let home = TempDir::new().expect("a directory");
    let project = TempDir::new().expect("a directory");
    let file = |events: &[&str]| {
        let events = events
            .iter()
            .map(|event| format!(r#""{event}":[{{"hooks":[{OK}]}}]"#));
        format!(
            r#"{{"hooks":{{{}}}}}"#,
            events.collect::<Vec<_>>().join(",")
        )
    };
    write(home.path(), &file(&["Stop", "UserPromptSubmit"]));
    write(project.path(), &file(&["Stop", "PreToolUse"]));
    let missing = home.path().join("missing");
    let (hooks, problems) = Hooks::load(&[missing.as_path(), home.path(), project.path()]);
    assert!(problems.is_empty(), "{problems:?}");
    let ids = |event| {
        let found = hooks.matching(event, "Bash").into_iter();
        found.map(quipu_hooks::Handler::id).collect::<Vec<_>>()
    };
    let at = |directory: &TempDir| directory.path().join("hooks.json").display().to_string();
    assert_eq!(
        ids(UserPromptSubmit),
        [format!("user-prompt-submit:0:{}", at(&home))]
    );
    assert_eq!(
        ids(Stop),
        [
            format!("stop:1:{}", at(&home)),
            format!("stop:3:{}", at(&project))
        ]
    );
    assert_eq!(
        ids(PreToolUse),
        [format!("pre-tool-use:2:{}", at(&project))]
    );
}

#[test]
fn matchers_choose_and_bad_ones_skip_their_hooks() {
    let group = |matcher: &str| format!(r#"{{"matcher":"{matcher}","hooks":[{OK}]}}"#);
    let matchers = ["^Bash$", "Ba", "bash", "*", "", "(", "Edit|Bash"];
    let groups: Vec<_> = matchers.iter().map(|matcher| group(matcher)).collect();
    let text = format!(r#"{{"hooks":{{"PreToolUse":[{}]}}}}"#, groups.join(","));
    let (orders, problems) = loaded(&text, PreToolUse, "Bash");
    assert_eq!(orders, [0, 1, 3, 4, 5]);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("the matcher `(` is not a valid regular expression"),
        "{problems:?}"
    );

    let text = format!(
        r#"{{"hooks":{{"SessionStart":[{},{}]}}}}"#,
        group("startup"),
        group("resume")
    );
    assert_eq!(loaded(&text, SessionStart, "resume").0, [1]);

    // Prompts and ends have nothing to match.
    let text = format!(
        r#"{{"hooks":{{"Stop":[{},{}]}}}}"#,
        group("nothing"),
        group("(")
    );
    assert_eq!(loaded(&text, Stop, ""), (vec![0, 1], Vec::new()));
}

#[test]
fn hooks_of_kinds_to_come_are_skipped_and_not_counted() {
    let kinds = [
        r#"{"type":"prompt","prompt":"x"}"#,
        r#"{"type":"agent"}"#,
        r#"{"type":"command","command":"true","async":true}"#,
        r#"{"type":"command","command":"  "}"#,
        OK,
    ];
    let text = format!(
        r#"{{"hooks":{{"Stop":[{{"hooks":[{}]}}]}}}}"#,
        kinds.join(",")
    );
    let (orders, problems) = loaded(&text, Stop, "");
    assert_eq!(orders, [0]);
    assert_eq!(
        problems,
        [
            "a hook in group 0 of stop is skipped: the type `prompt` is not supported yet",
            "a hook in group 0 of stop is skipped: the type `agent` is not supported yet",
            "a hook in group 0 of stop is skipped: `async` hooks are not supported yet",
            "a hook in group 0 of stop is skipped: its command is empty",
        ]
    );
}

#[test]
fn a_file_that_is_not_understood_is_left_out_whole() {
    for stop in [
        "{}",
        "null",
        r#"[{"hooks":null}]"#,
        r#"[{"matcher":5}]"#,
        r#"[{"hooks":[{"type":"command"}]}]"#,
        r#"[{"hooks":[{"command":"true"}]}]"#,
        r#"[{"hooks":[{"type":"weird","command":"true"}]}]"#,
        r#"[{"hooks":[{"type":"command","command":"true","timeout":-1}]}]"#,
        r#"[{"hooks":[{"type":"command","command":"true","timeout":1.5}]}]"#,
        r#"[{"hooks":[{"type":"command","command":"true","timeout":99999999999999999999}]}]"#,
        r#"[{"hooks":[{"type":"command","command":"true","timeout":1,"timeoutSec":2}]}]"#,
        r#"[{"hooks":[{"type":"command","command":"true","statusMessage":5}]}]"#,
        r#"[{"hooks":[{"type":"command","command":"true","async":null}]}]"#,
    ] {
        let text =
            format!(r#"{{"hooks":{{"Stop":{stop},"UserPromptSubmit":[{{"hooks":[{OK}]}}]}}}}"#);
        let (orders, problems) = loaded(&text, UserPromptSubmit, "");
        assert!(orders.is_empty(), "{stop}");
        assert!(
            problems[0].starts_with("no hook of the file is in force: "),
            "{problems:?}"
        );
    }
    for text in ["", "{", "7"] {
        assert_eq!(loaded(text, Stop, "").1.len(), 1, "{text}");
    }
}

#[test]
fn members_that_are_not_known_are_ignored() {
    let text = r#"{"extra":1,"hooks":{"Nope":[{}],"Stop":[{"extra":2,"matcher":null,
        "hooks":[{"type":"command","command":"true","extra":3}]}]}}"#;
    assert_eq!(loaded(text, Stop, ""), (vec![0], Vec::new()));
    assert_eq!(loaded("{}", Stop, ""), (Vec::new(), Vec::new()));
    assert_eq!(
        loaded(r#"{"hooks":{"Stop":[{}]}}"#, Stop, ""),
        (Vec::new(), Vec::new())
    );
}

#[test]
fn a_hook_has_ten_minutes_unless_it_says_otherwise_and_never_less_than_a_second() {
    let seconds = |member: &str| {
        let home = TempDir::new().expect("a directory");
        let text = format!(
            r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command","command":"true"{member}}}]}}]}}}}"#
        );
        write(home.path(), &text);
        let (hooks, _) = Hooks::load(&[home.path()]);
        hooks.matching(Stop, "")[0].timeout.as_secs()
    };
    assert_eq!(seconds(""), 600);
    assert_eq!(seconds(r#","timeout":null"#), 600);
    assert_eq!(seconds(r#","timeout":0"#), 1);
    assert_eq!(seconds(r#","timeout":5"#), 5);
    assert_eq!(seconds(r#","timeoutSec":7"#), 7);
}

#[test]
fn a_file_that_is_no_file_or_too_large_is_left_out() {
    let home = TempDir::new().expect("a directory");
    fs::create_dir(home.path().join("hooks.json")).expect("a directory");
    let (hooks, problems) = Hooks::load(&[home.path()]);
    assert!(hooks.is_empty());
    assert!(
        problems[0].what.starts_with("the file cannot be read: "),
        "{problems:?}"
    );

    let text = format!(r#"{{"hooks":{{}},"x":"{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(loaded(&text, Stop, "").1.len(), 1);

    let many = vec![OK; 300].join(",");
    let text = format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{many}]}}]}}}}"#);
    let (orders, problems) = loaded(&text, Stop, "");
    assert_eq!(orders.len(), 256);
    assert_eq!(problems.len(), 16);
}
