//! Laws that hold for every input: nothing panics, and strictness only ever adds up.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use quipu_policy::commands::{CommandRequest, CommandVerdict, Confinement, decide_command};
use quipu_policy::permissions::{CommandTool, Grants, SandboxPermissions};
use quipu_policy::rules::{Decision, PrefixRule, Rules};
use quipu_policy::safe::is_known_safe;
use quipu_policy::session::SessionApprovals;
use quipu_policy::settings::Settings;
use quipu_wire::{AskForApproval, SandboxPolicy};
use serde_json::json;

use crate::support::{bash, bash_commands, fixture};
use crate::{any_rules, any_script};

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "git", "push", "status", "ls", "rm", "-rf", "-f", "cat", "find", "-delete", "a.txt",
            "sed", "-n", "1,5p", "echo", "cd", "x", "&&", "||", ";", "|", "\n",
        ]).prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            ">", "<", "&", "$x", "$(ls)", "`ls`", "(", ")", "{", "}", "*", "?", "'a b'", "\"a b\"",
            "\\", "#", "!", "<<EOF\nx\nEOF", "a\\ b", "{a,b}", "2>&1", "if", "then", "A=1", "'", "\"",
        ]).prop_map(str::to_owned),
        1 => "[ -~]{0,6}",
        1 => "\\PC{0,4}",
    ]
}

fn script() -> impl Strategy<Value = String> {
    prop::collection::vec(token(), 1..12).prop_map(|tokens| tokens.join(" "))
}

/// Programs of the record, cut and put together again.
fn spliced_program() -> impl Strategy<Value = String> {
    let programs: Vec<String> = fixture("starlark.jsonl")
        .iter()
        .map(|row| row["source"].as_str().unwrap().to_owned())
        .collect();
    let piece = (
        prop::sample::select(programs),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
    );
    prop::collection::vec(piece, 1..4).prop_map(|pieces| {
        let cut = |(program, from, to): (String, prop::sample::Index, prop::sample::Index)| {
            let characters: Vec<char> = program.chars().collect();
            let (from, to) = (
                from.index(characters.len() + 1),
                to.index(characters.len() + 1),
            );
            characters[from.min(to)..from.max(to)]
                .iter()
                .collect::<String>()
        };
        pieces.into_iter().map(cut).collect()
    })
}

fn program_words() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "x",
        "f",
        "1",
        "\"a\"",
        "1.5",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "=",
        "+=",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "|",
        "<<",
        "==",
        "<",
        ".",
        "...",
        "**",
        "->",
        "\n",
        "\n  ",
        "\n    ",
        "for ",
        " in ",
        "if ",
        "elif ",
        "else ",
        "def ",
        "return ",
        "lambda ",
        "not ",
        " and ",
        " or ",
        "break",
        "continue",
        "pass",
        "range(9)",
        "len(",
        "str(",
        "list[",
        ".append(",
        ".format(",
        ".items()",
        "f\"{x}\"",
        "\\\n",
        "#",
        ";",
        "True",
        "None",
        "prefix_rule(pattern=[\"a\"])",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

fn rule() -> impl Strategy<Value = PrefixRule> {
    let word =
        || prop::sample::select(vec!["git", "push", "ls", "rm", "-rf", "cat", "x", "status"]);
    let decision = prop::sample::select(vec![
        Decision::Allow,
        Decision::Allow,
        Decision::Prompt,
        Decision::Forbidden,
    ]);
    let words = prop::collection::vec(prop::collection::vec(word(), 1..3), 1..3);
    (words, decision).prop_map(|(words, decision)| {
        let owned = |alternatives: Vec<&str>| alternatives.into_iter().map(str::to_owned).collect();
        let pattern = words.into_iter().map(owned).collect();
        PrefixRule::new(pattern, decision, None).unwrap()
    })
}

fn pooled(rules: &[PrefixRule]) -> Rules {
    let mut pool = Rules::default();
    for rule in rules {
        pool.push_prefix(rule.clone());
    }
    pool
}

fn policy() -> impl Strategy<Value = AskForApproval> {
    let granular = (any::<bool>(), any::<bool>()).prop_map(|(sandbox_approval, rules)| {
        AskForApproval::Granular {
            sandbox_approval,
            rules,
            skill_approval: false,
            request_permissions: false,
            mcp_elicitations: false,
        }
    });
    prop_oneof![
        Just(AskForApproval::Untrusted),
        Just(AskForApproval::OnFailure),
        Just(AskForApproval::OnRequest),
        Just(AskForApproval::Never),
        granular,
    ]
}

fn sandbox() -> impl Strategy<Value = SandboxPolicy> {
    prop::sample::select(vec![
        "readOnly",
        "workspaceWrite",
        "dangerFullAccess",
        "externalSandbox",
    ])
    .prop_map(|kind| serde_json::from_value(json!({ "type": kind })).unwrap())
}

fn permissions() -> impl Strategy<Value = SandboxPermissions> {
    prop::sample::select(vec![
        SandboxPermissions::UseDefault,
        SandboxPermissions::RequireEscalated,
    ])
}

/// How much a verdict holds back.
fn strictness(verdict: &CommandVerdict) -> u8 {
    match verdict {
        CommandVerdict::Run(run) if run.confinement == Confinement::Lifted => 0,
        CommandVerdict::Run(_) => 1,
        CommandVerdict::Ask(_) => 2,
        CommandVerdict::Refuse(_) | CommandVerdict::Misuse(_) => 3,
    }
}

fn decide(
    script: &str,
    rules: &Rules,
    (policy, sandbox, permissions): &(AskForApproval, SandboxPolicy, SandboxPermissions),
) -> CommandVerdict {
    let argv = bash(script);
    let request = CommandRequest {
        argv: &argv,
        cwd: Path::new("/project"),
        tool: CommandTool::Shell,
        tty: false,
        permissions: *permissions,
        additional_permissions: None,
        justification: None,
        prefix_rule: &[],
    };
    let settings = Settings {
        approval_policy: policy,
        sandbox,
        writable: &[PathBuf::from("/project")],
        shell: "/bin/bash",
        rules,
        grants: &Grants::default(),
        session: &SessionApprovals::default(),
        additional_permissions: false,
    };
    decide_command(&request, &settings)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_script(text in script()) {
        any_script::check(text.as_bytes());
    }

    #[test]
    fn any_bytes_are_a_script(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        any_script::check(&bytes);
    }

    #[test]
    fn any_text_is_a_rules_file(text in "(prefix_rule|[a-z(\\[\\])=,'\"\n :+{}#fr0-9\\\\]| in |for ){0,30}") {
        any_rules::check(text.as_bytes());
    }

    #[test]
    fn any_words_are_a_rules_file(text in program_words()) {
        any_rules::check(text.as_bytes());
    }

    #[test]
    fn any_splice_is_a_rules_file(text in spliced_program()) {
        any_rules::check(text.as_bytes());
    }

    #[test]
    fn words_survive_quoting(words in prop::collection::vec("[^\0\r]{0,8}", 1..5)) {
        let line = quipu_policy::command_line::display(&words);
        prop_assert_eq!(shlex::split(&line), Some(words));
    }

    #[test]
    fn a_forbidding_rule_never_weakens(
        text in script(),
        rules in prop::collection::vec(rule(), 0..4),
        extra in rule(),
        setting in (policy(), sandbox(), permissions()),
    ) {
        let before = decide(&text, &pooled(&rules), &setting);
        let mut stricter = rules;
        let pattern = extra.pattern().to_vec();
        stricter.push(PrefixRule::new(pattern, Decision::Forbidden, None).unwrap());
        let after = decide(&text, &pooled(&stricter), &setting);
        prop_assert!(strictness(&after) >= strictness(&before), "{before:?}\n{after:?}");
    }

    #[test]
    fn the_sandbox_is_lifted_only_for_what_rules_allow(
        text in script(),
        rules in prop::collection::vec(rule(), 0..4),
        setting in (policy(), sandbox(), permissions()),
    ) {
        let verdict = decide(&text, &pooled(&rules), &setting);
        if strictness(&verdict) == 0 {
            let allowing = rules.iter().filter(|rule| rule.decision == Decision::Allow);
            let allowing = pooled(&allowing.cloned().collect::<Vec<_>>());
            for command in bash_commands(&text) {
                let place = quipu_policy::rules::Place { cwd: Path::new("/project"), writable: &[] };
                let by_rule = !allowing.matches(&command, &place).is_empty();
                prop_assert!(by_rule || is_known_safe(&command), "{command:?}");
            }
        }
    }
}

#[test]
fn the_fuzz_corpus_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, check) in [
        ("bash", any_script::check as fn(&[u8])),
        ("rules", any_rules::check),
    ] {
        let files: Vec<PathBuf> = std::fs::read_dir(corpus.join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(!files.is_empty());
        for file in files {
            check(&std::fs::read(file).unwrap());
        }
    }
}
