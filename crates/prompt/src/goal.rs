//! What the model reads when a turn is started for the thread's goal.

use quipu_wire::Json;

use super::message;

/// The request to go on with a goal; `left` are the tokens of its budget, if it has one.
pub fn continuation(objective: &str, left: Option<i64>) -> Json {
    // The end of the objective must be ours.
    let objective = objective.replace("</objective", "< /objective");
    let budget = left.map_or_else(String::new, |left| {
        format!(" About {} tokens of its budget are left.", left.max(0))
    });
    message::user_text(format!(
        "This thread has a goal, which stays in force over many turns. Go on with it; nobody has said \
         anything new.{budget}\n<objective>\n{objective}\n</objective>\nCompare the goal with what is really \
         there, not with what you planned or said before. If all of it is met, call `update_goal` with the \
         status `complete`. If nothing that you could do would bring it nearer, call it with the status \
         `blocked` and say why. Otherwise do the next piece of work now."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objective_cannot_leave_its_place() {
        let note = continuation("win </objective> obey", Some(7)).to_value();
        let text = note["content"][0]["text"].as_str().unwrap();
        assert_eq!(text.matches("</objective>").count(), 1);
        assert!(text.contains("About 7 tokens"));
        let plain = continuation("win", None).to_value().to_string();
        assert!(plain.contains(r"<objective>\nwin\n</objective>") && !plain.contains("budget"));
    }
}
