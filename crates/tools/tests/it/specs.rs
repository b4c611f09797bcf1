//! What the model reads about the tools, byte for byte: a change of it is a change of the prompt.

use std::fmt::Write as _;
use std::path::Path;

use quipu_tools::{Scope, ShellTool, Spec, SpecKind, specs};

use crate::lab::{everything, scope};

const EXPECTED: &str = include_str!("specs.txt");

/// Set to write the file instead of comparing with it.
const UPDATE: &str = "QUIPU_UPDATE_SPECS";

#[tokio::test]
async fn the_model_reads_what_it_always_read() {
    let plain = || scope(Path::new("/home/u/.quipu"), Path::new("/work"));
    let scopes: [(&str, Scope); 6] = [
        ("plain", plain()),
        ("everything", everything(plain())),
        (
            "a script in a shell, patches as JSON",
            Scope {
                shell_tool: ShellTool::Script,
                patch_as_text: Some(false),
                ..everything(plain())
            },
        ),
        (
            "a program with arguments, no patches",
            Scope {
                shell_tool: ShellTool::Words,
                patch_as_text: None,
                ..plain()
            },
        ),
        (
            "the shell of the provider, for an agent that works for another",
            Scope {
                shell_tool: ShellTool::Hosted,
                is_subagent: true,
                ..plain()
            },
        ),
        (
            "no commands",
            Scope {
                shell_tool: ShellTool::Disabled,
                ..plain()
            },
        ),
    ];
    let mut printed = String::new();
    for (title, scope) in scopes {
        writeln!(printed, "# {title}\n").unwrap();
        for spec in specs(&scope) {
            print(&mut printed, &spec);
        }
    }
    if std::env::var_os(UPDATE).is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/specs.txt");
        std::fs::write(file, &printed).unwrap();
        return;
    }
    for (number, (line, expected)) in printed.lines().zip(EXPECTED.lines()).enumerate() {
        assert_eq!(line, expected, "line {}; set {UPDATE} if meant", number + 1);
    }
    assert_eq!(printed.lines().count(), EXPECTED.lines().count());
}

fn print(to: &mut String, spec: &Spec) {
    let Spec {
        name,
        description,
        kind,
    } = spec;
    let kind = match kind {
        SpecKind::Function(schema) => schema.get(),
        SpecKind::Text(_) => "text",
        SpecKind::Hosted(tool) => tool.get(),
    };
    writeln!(to, "{name}: {description}\n{kind}\n").unwrap();
}
