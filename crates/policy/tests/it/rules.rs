//! Rules files: the language, matching, loading and amending.

use std::path::{Path, PathBuf};

use quipu_policy::bash::Command;
use quipu_policy::rules::{
    AmendError, DEFAULT_RULES_FILE, Decision, NetworkDecision, NetworkProtocol, Place, RuleMatch,
    Rules, RulesProblem, append_allow_prefix, append_network_rule, load, normal_host,
};
use serde_json::Value;

use crate::support::{assert_none, bash_commands, fixture, in_fixture_words, strings, words};

fn parse(source: &str) -> Rules {
    Rules::parse(Path::new("test.rules"), source).unwrap()
}

fn matches(rules: &Rules, command: &Command) -> Vec<RuleMatch> {
    let place = Place {
        cwd: Path::new("/project"),
        writable: &[PathBuf::from("/tmp")],
    };
    rules.matches(command, &place)
}

fn strictest(rules: &Rules, script: &str) -> Option<Decision> {
    let commands = bash_commands(script);
    commands
        .iter()
        .flat_map(|command| matches(rules, command))
        .map(|found| found.decision)
        .max()
}

/// Programs inside the working directory are not allowed by name here; see `own_programs_…` below.
#[test]
fn files_mean_what_they_were_recorded_to_mean() {
    let mut differences = Vec::new();
    for row in fixture("rules_files.jsonl") {
        let command = strings(&row["command"]);
        if command[0].starts_with("./") || command[0].starts_with("bin/") {
            continue;
        }
        let parsed = Rules::parse(Path::new("test.rules"), row["source"].as_str().unwrap());
        let ours = match &parsed {
            Err(_) => Value::Null,
            Ok(rules) => matches(rules, &Command::verbatim(&command))
                .iter()
                .map(in_fixture_words)
                .collect(),
        };
        if ours != row["matches"] {
            differences.push(format!("{row}\n  {ours} {:?}", parsed.err()));
        }
    }
    assert_none(&differences);
}

#[test]
fn what_is_wrong_is_reported_with_its_place() {
    let cases = [
        ("x = 1\nwhile x:\n  pass", "2:1", "there is no `while`"),
        ("load(\"a\", \"b\")", "1:1", "`load` is not supported"),
        ("import os", "1:1", "`import` is not supported"),
        ("return 1", "1:1", "outside of a function"),
        ("if True:\n  break", "2:3", "outside of a loop"),
        ("x = 1 < 2 < 3", "1:11", "cannot be chained"),
        ("x = y", "1:5", "nothing here is called `y`"),
        (
            "def f():\n  return g()",
            "2:10",
            "nothing here is called `g`",
        ),
        ("y = x\nx = 1", "1:5", "`x` has no value yet"),
        ("run()", "1:1", "nothing here is called `run`"),
        (
            "x = 1 + \"a\"",
            "1:9",
            "a string cannot be added to a number",
        ),
        ("x = [1][5]", "1:5", "the index 5 is out of range"),
        ("x = {}[\"a\"]", "1:5", "there is no key \"a\""),
        ("x = \"a\".nope()", "1:5", "a string has no `nope`"),
        ("x = 1 // 0", "1:10", "divides by zero"),
        ("fail(\"no\", 1)", "1:1", "the file fails: no 1"),
        (
            "def f(a):\n  return a\nf(1, 2)",
            "3:6",
            "`f` takes fewer arguments",
        ),
        (
            "def f(a: str):\n  return a\nf(1)",
            "3:3",
            "this must be `str`, not a number",
        ),
        (
            "x = [1]\nfor y in x:\n  x.append(y)",
            "3:3",
            "while a loop goes through it",
        ),
        ("x = $", "1:5", "`$` has no meaning"),
        ("prefix_rule(pattern=[])", "1:21", "the pattern is empty"),
        (
            "prefix_rule(pattern=[\"é\"], decision=\"no\")",
            "1:37",
            "`decision` must be",
        ),
        (
            "prefix_rule(pattern=[\"x\"],\n  match=[\"y\"])",
            "1:1",
            "does not match its example `y`",
        ),
        ("\tx = 1", "1:1", "spaces"),
        ("x = 'a", "1:5", "no closing quote"),
    ];
    for (source, place, message) in cases {
        let error = Rules::parse(Path::new("a/b.rules"), source)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("a/b.rules:{place}: ")),
            "{source}: {error}"
        );
        assert!(error.contains(message), "{source}: {error}");
    }
}

#[test]
fn computing_is_limited() {
    let list = format!("x = [{}]\n", "1, ".repeat(1000));
    let sources = [
        format!("x = [\"a\"]\n{}", "x = x + x\n".repeat(60)),
        format!("x = \"a\"\n{}", "x += x\n".repeat(60)),
        format!("x = {}1{}", "[".repeat(5000), "]".repeat(5000)),
        format!("x = {}1", "- ".repeat(5000)),
        format!("x = len{}", ".a".repeat(5000)),
        format!("{list}for a in x:\n  for b in x:\n    pass"),
        format!("{list}y = [[b for b in x] for a in x]"),
        format!("x = {:?}", "a".repeat(2_000_000)),
        "for x in range(1 << 60):\n  pass".to_owned(),
        "x = [0] * (1 << 60)".to_owned(),
        "x = \"a\" * (1 << 60)".to_owned(),
        "x = list(range(1 << 60))".to_owned(),
        "x = (\"a\" * 100000).replace(\"a\", \"a\" * 100000)".to_owned(),
        "x = 1\nfor i in range(1000): x *= 10".to_owned(),
        "def f(n): return f(n + 1)\nf(0)".to_owned(),
        "def f(n): return sorted([n], key=f)\nf(0)".to_owned(),
        format!(
            "def f(n): return {}f(n + 1){}\nf(0)",
            "[x for x in [".repeat(12),
            "]]".repeat(12)
        ),
        "T = str\nfor i in range(100): T = list[T]".to_owned(),
        "T = str\nfor i in range(100): T = dict[T, T]".to_owned(),
        // Shared parts: small to hold, endless to walk.
        "a = []\nb = []\nfor i in range(60):\n  a = [a, a]\n  b = [b, b]\nx = a == b".to_owned(),
        "a = ()\nfor i in range(60):\n  a = (a, a)\nx = {a: 1}".to_owned(),
        "a = []\nfor i in range(60):\n  a = [a, a]\nx = str(a)".to_owned(),
        "a = []\na.append(a)\nb = []\nb.append(b)\nx = a == b".to_owned(),
    ];
    for source in sources {
        let shown: String = source.chars().take(60).collect();
        Rules::parse(Path::new("test.rules"), &source).expect_err(&shown);
    }
}

/// Nesting that is allowed fits on the stack, and values nested by loops are freed without it.
#[test]
fn deep_files_run_on_a_small_stack() {
    let brackets = format!("x = {}1{}", "[".repeat(60), "]".repeat(60));
    let nested_if = (0..50).fold(String::new(), |text, level| {
        format!("{text}{}if True:\n", " ".repeat(level))
    });
    let calls =
        "def f(n):\n  for i in [n]:\n    if n:\n      return [x for x in [f(n - 1)]]\n  return 1\n";
    let chain = format!("x = 1{}", " + 1".repeat(10_000));
    let alternatives = format!("x = 1{}", " or 1".repeat(10_000));
    let branches = format!("if 0: pass\n{}", "elif 0: pass\n".repeat(10_000));
    let sources = [
        brackets,
        format!("{nested_if}{}pass", " ".repeat(50)),
        format!("{calls}x = f(40)"),
        chain,
        alternatives,
        branches,
        "x = ()\nfor i in range(50000): x = (x,)".to_owned(),
        "f = None\ndef g(h): return lambda: h\nfor i in range(20000): f = g(f)".to_owned(),
    ];
    for source in sources {
        parse(&source);
    }
}

/// A long file is read in a time that grows with its length.
#[test]
fn many_names_are_no_burden() {
    let names: String = (0..20_000).map(|n| format!("name{n} = {n}\n")).collect();
    parse(&names);
}

#[test]
fn the_strictest_rule_wins() {
    let rules = parse(
        r#"
prefix_rule(pattern=["git"])
prefix_rule(pattern=["git", "push"], decision="forbidden")
prefix_rule(pattern=["git", ["fetch", "pull"]], decision="prompt")
"#,
    );
    assert_eq!(strictest(&rules, "git status"), Some(Decision::Allow));
    assert_eq!(
        strictest(&rules, "git pull && git log"),
        Some(Decision::Prompt)
    );
    assert_eq!(
        strictest(&rules, "git pull; git push"),
        Some(Decision::Forbidden)
    );
    assert_eq!(strictest(&rules, "ls"), None);
}

#[test]
fn spelling_does_not_get_around_a_restriction() {
    let rules = parse(
        r#"
prefix_rule(pattern=["git"])
prefix_rule(pattern=["git", "push"], decision="forbidden")
"#,
    );
    for script in [
        r"git pu\sh",
        r"\git push",
        "git 'push'",
        "git pu\"s\"h",
        "/usr/bin/git push",
    ] {
        assert_eq!(
            strictest(&rules, script),
            Some(Decision::Forbidden),
            "{script}"
        );
    }
    // These may become a push, so nothing is allowed; what cannot be told is not forbidden either.
    for script in ["git pus?", "git {push,}", "git *", "{git,push}"] {
        assert_eq!(strictest(&rules, script), None, "{script}");
    }
    assert_eq!(strictest(&rules, "git add *.rs"), Some(Decision::Allow));
}

#[test]
fn own_programs_are_not_allowed_by_their_name() {
    let rules = parse(
        "prefix_rule(pattern=[\"date\"])\nprefix_rule(pattern=[\"rm\"], decision=\"prompt\")",
    );
    for script in [
        "./date",
        "bin/date",
        "/project/date",
        "/tmp/date",
        "/usr/../project/date",
        "~/date",
    ] {
        assert_eq!(strictest(&rules, script), None, "{script}");
    }
    assert_eq!(strictest(&rules, "/usr/bin/date"), Some(Decision::Allow));
    assert_eq!(strictest(&rules, "./rm x"), Some(Decision::Prompt));
}

#[test]
fn a_broken_file_leaves_the_others_in_force() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    write("a.rules", "prefix_rule(pattern=[\"a\"])");
    write(
        "b.rules",
        "prefix_rule(pattern=[\"b\"], decision=\"forbidden\")\nprefix_rule(",
    );
    write(
        "c.rules",
        "prefix_rule(pattern=[\"c\"], decision=\"forbidden\")",
    );
    write("d.txt", "not rules");
    std::fs::write(home.path().join("e.rules"), b"\xff").unwrap();
    std::fs::create_dir(home.path().join("f.rules")).unwrap();
    let missing = home.path().join("missing");
    let loaded = load(&[missing, home.path().to_owned()]);
    assert_eq!(strictest(&loaded.rules, "a"), Some(Decision::Allow));
    assert_eq!(strictest(&loaded.rules, "b"), None);
    assert_eq!(strictest(&loaded.rules, "c"), Some(Decision::Forbidden));
    let [
        RulesProblem::Invalid(invalid),
        RulesProblem::Unreadable { path, .. },
    ] = loaded.problems.as_slice()
    else {
        panic!("{:?}", loaded.problems);
    };
    assert_eq!(
        (invalid.path.file_name().unwrap(), invalid.at.line),
        ("b.rules".as_ref(), 2)
    );
    assert_eq!(path.file_name().unwrap(), "e.rules");
}

#[test]
fn an_accepted_prefix_is_saved_once_in_the_shared_form() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(DEFAULT_RULES_FILE);
    let prefix = words("touch /etc/x");
    assert!(append_allow_prefix(home.path(), &prefix).unwrap());
    assert!(!append_allow_prefix(home.path(), &prefix).unwrap());
    let odd = vec!["a \"b\" \\ \n é".to_owned()];
    assert!(append_allow_prefix(home.path(), &odd).unwrap());
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        text,
        "prefix_rule(pattern=[\"touch\", \"/etc/x\"], decision=\"allow\")\n\
         prefix_rule(pattern=[\"a \\\"b\\\" \\\\ \\n é\"], decision=\"allow\")\n"
    );
    let loaded = load(&[home.path().join("rules")]);
    assert!(loaded.problems.is_empty());
    assert_eq!(matches(&loaded.rules, &Command::verbatim(&odd)).len(), 1);
    assert!(matches!(
        append_allow_prefix(home.path(), &[]),
        Err(AmendError::Pattern(_))
    ));
}

#[test]
fn an_amendment_starts_on_its_own_line() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(DEFAULT_RULES_FILE);
    std::fs::create_dir(home.path().join("rules")).unwrap();
    std::fs::write(&file, "prefix_rule(pattern=[\"a\"])").unwrap();
    append_network_rule(
        home.path(),
        "Example.COM:443",
        NetworkProtocol::Https,
        NetworkDecision::Allow,
    )
    .unwrap();
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "prefix_rule(pattern=[\"a\"])\n\
         network_rule(host=\"example.com\", protocol=\"https\", decision=\"allow\", \
         justification=\"Allow https access to example.com\")\n"
    );
    let rules = load(&[home.path().join("rules")]).rules;
    let decision = |protocol| rules.network_decision("EXAMPLE.com.", protocol);
    assert_eq!(
        decision(NetworkProtocol::Https),
        Some(NetworkDecision::Allow)
    );
    assert_eq!(decision(NetworkProtocol::Http), None);
}

#[test]
fn amendments_from_many_sides_are_all_kept() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let home = home.path();
            scope.spawn(move || {
                for number in 0..20 {
                    let prefix = vec![format!("p{worker}"), format!("n{number}")];
                    append_allow_prefix(home, &prefix).unwrap();
                    append_allow_prefix(home, &["common".to_owned()]).unwrap();
                }
            });
        }
    });
    let text = std::fs::read_to_string(home.path().join(DEFAULT_RULES_FILE)).unwrap();
    assert_eq!(text.lines().count(), 161);
}

#[test]
fn hosts_are_compared_in_one_form() {
    assert_eq!(normal_host(" Example.com:8080 ").unwrap(), "example.com");
    assert_eq!(normal_host("[::1]:443").unwrap(), "::1");
    for wrong in [
        "",
        "http://a",
        "a/b",
        "*.a",
        "a b",
        "a:b",
        "[::1",
        "user@host",
        ".",
    ] {
        normal_host(wrong).unwrap_err();
    }
}

#[test]
fn allowed_prefixes_are_listed_shortest_first() {
    let rules = parse(
        r#"
prefix_rule(pattern=["git", ["log", "diff"]])
prefix_rule(pattern=["ls"])
prefix_rule(pattern=["rm"], decision="prompt")
"#,
    );
    assert_eq!(
        rules.allowed_prefixes(),
        [words("ls"), words("git diff"), words("git log")]
    );
    let ten = "[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]";
    let many = format!("prefix_rule(pattern=[\"p\", {ten}, {ten}, {ten}])\n");
    assert!(parse(&many).allowed_prefixes().is_empty());
    assert!(Rules::default().allowed_prefixes().is_empty());
}
