//! What the model is told about the tools that run commands, of which it gets one family.

use serde_json::{Value, json};

use crate::scope::{Scope, ShellTool};
use crate::specs::{Spec, SpecKind, flag, function, number, text, wanted};

pub(crate) fn specs(scope: &Scope) -> Vec<Spec> {
    match scope.shell_tool {
        ShellTool::Disabled => Vec::new(),
        ShellTool::Exec => vec![exec_command(scope), write_stdin()],
        ShellTool::Script => vec![shell_command(scope)],
        ShellTool::Words => vec![shell(scope)],
        ShellTool::Hosted => vec![Spec {
            name: "local_shell".to_owned(),
            description: String::new(),
            kind: SpecKind::Hosted(json!({ "type": "local_shell" }).into()),
        }],
    }
}

/// What all of them take besides the command: where it runs, and what is asked of the user.
fn common(scope: &Scope) -> Value {
    let mut properties = json!({
        "workdir": text("The folder to run it in; the working directory of the turn if left out."),
        "sandbox_permissions": text("`use_default`, or `require_escalated` to ask the user for a run outside the sandbox."),
        "justification": text("With `require_escalated`: a short question to the user that says why."),
        "prefix_rule": {
            "type": "array", "items": { "type": "string" },
            "description": "With `require_escalated`: the beginning of the command, word by word, that the user may allow for good.",
        },
    });
    if scope.features.exec_permission_approvals {
        properties["sandbox_permissions"] = text(
            "`use_default`; `with_additional_permissions` to ask the user for what `additional_permissions` lists; or \
             `require_escalated` to ask for a run outside the sandbox.",
        );
        properties["additional_permissions"] = wanted();
    }
    properties
}

fn add_login(scope: &Scope, properties: &mut Value) {
    if scope.features.allow_login_shell {
        properties["login"] =
            flag("Whether the shell reads the user's profile first. True if left out.");
    }
}

fn exec_command(scope: &Scope) -> Spec {
    let mut properties = common(scope);
    properties["cmd"] = text("The shell command to run.");
    properties["shell"] = text("The shell to run it with; the user's own if left out.");
    properties["tty"] =
        flag("Whether the command gets a terminal, which programs that talk with their user need.");
    properties["yield_time_ms"] =
        number("How long to wait for output before the command goes on in the background.");
    properties["max_output_tokens"] =
        number("How much output to return; more is cut in the middle.");
    add_login(scope, &mut properties);
    function(
        "exec_command",
        "Runs a command and returns its output, or a session ID if it is still running.",
        properties,
        &["cmd"],
    )
}

fn write_stdin() -> Spec {
    function(
        "write_stdin",
        "Types into a command that is still running, or just waits for more of its output.",
        json!({
            "session_id": number("The session ID that `exec_command` returned."),
            "chars": text("What to type; nothing only looks for new output."),
            "yield_time_ms": number("How long to wait for output."),
            "max_output_tokens": number("How much output to return; more is cut in the middle."),
        }),
        &["session_id"],
    )
}

fn shell_command(scope: &Scope) -> Spec {
    let mut properties = common(scope);
    properties["command"] = text("The shell script to run.");
    properties["timeout_ms"] = number("How long it may take; ten seconds if left out.");
    add_login(scope, &mut properties);
    function(
        "shell_command",
        "Runs a script in the user's shell, waits for its end and returns its output.",
        properties,
        &["command"],
    )
}

fn shell(scope: &Scope) -> Spec {
    let mut properties = common(scope);
    properties["command"] = json!({
        "type": "array", "items": { "type": "string" },
        "description": "The program and its arguments. A script needs a shell: `[\"bash\", \"-lc\", SCRIPT]`.",
    });
    properties["timeout_ms"] = number("How long it may take; ten seconds if left out.");
    function(
        "shell",
        "Runs a program, waits for its end and returns its output.",
        properties,
        &["command"],
    )
}
