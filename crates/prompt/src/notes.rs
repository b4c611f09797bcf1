//! Short notes that the program adds to a history when something happened that the model should know.

use std::time::Duration;

use quipu_wire::Json;

use super::budget::{Budget, middle_with_lines};
use super::message;

/// After a turn that the person stopped.
pub fn turn_aborted() -> Json {
    message::user_text(
        "<turn_aborted>\nThe person stopped the turn before it was done, and meant to. Tools that were \
         running may have done a part of their work: look at the present state before you repeat \
         anything. Commands left in the background may still be running.\n</turn_aborted>",
    )
}

/// After a final message that does not have the shape that was asked for.
pub fn wrong_shape(why: &str) -> Json {
    message::developer(vec![message::text(format!(
        "Your final message does not match the JSON Schema it must match: {why}. Give the whole final \
         message again, as one JSON value that matches it, with nothing around it."
    ))])
}

/// A command that the person ran, and what came of it.
#[derive(Debug, Clone, Copy)]
pub struct UserShellCommand<'a> {
    /// The command.
    pub command: &'a str,
    /// Its exit code.
    pub exit_code: i32,
    /// How long it ran.
    pub duration: Duration,
    /// What it printed.
    pub output: &'a str,
}

/// After a command that the person ran; its output is cut to the budget.
pub fn user_shell_command(run: &UserShellCommand<'_>, budget: Budget) -> Json {
    let UserShellCommand {
        command,
        exit_code,
        duration,
        output,
    } = run;
    let output = middle_with_lines(output, budget);
    message::user_text(format!(
        "<user_shell_command>\n<command>\n{command}\n</command>\n<result>\nExit code: {exit_code}\n\
         Duration: {:.4} seconds\nOutput:\n{output}\n</result>\n</user_shell_command>",
        duration.as_secs_f64()
    ))
}

/// After an agent that this thread started has come to an end; `status` is its final status.
pub fn subagent_notification(agent: &str, status: &Json) -> Json {
    #[derive(serde::Serialize)]
    struct Notification<'a> {
        agent_path: &'a str,
        status: &'a Json,
    }
    let notification = Notification {
        agent_path: agent,
        status,
    };
    let json = Json::new(&notification).unwrap_or_default();
    message::user_text(format!(
        "<subagent_notification>\n{}\n</subagent_notification>",
        json.get()
    ))
}

/// What a hook wants the model to go on with.
pub fn hook_prompt(run_id: &str, text: &str) -> Json {
    message::user_text(format!(
        "<hook_prompt hook_run_id=\"{run_id}\">{text}</hook_prompt>"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::history::{Origin, origin};
    use super::super::tests::item;
    use super::*;

    fn text(json: &Json) -> String {
        json.to_value()["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn a_command_of_the_person_is_reported_as_the_reference_does() {
        let run = UserShellCommand {
            command: "echo USER; false",
            exit_code: 1,
            duration: Duration::from_micros(45_200),
            output: "USER\n",
        };
        assert_eq!(
            text(&user_shell_command(&run, Budget::Bytes(100))),
            "<user_shell_command>\n<command>\necho USER; false\n</command>\n<result>\nExit code: 1\n\
             Duration: 0.0452 seconds\nOutput:\nUSER\n\n</result>\n</user_shell_command>"
        );
    }

    #[test]
    fn notes_are_not_taken_for_the_persons_words() {
        let status = Json::from(serde_json::json!({"completed": "child answer"}));
        let notification = subagent_notification("id-1", &status);
        assert_eq!(
            text(&notification),
            "<subagent_notification>\n{\"agent_path\":\"id-1\",\"status\":{\"completed\":\"child answer\"}}\n</subagent_notification>"
        );
        for note in [
            turn_aborted(),
            notification,
            hook_prompt("stop:0:/h", "go on"),
        ] {
            assert_eq!(origin(&item(&note)), Origin::Program, "{note:?}");
        }
    }
}
