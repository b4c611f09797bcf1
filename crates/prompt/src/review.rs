//! Reviews of code: what the reviewer is asked, what it answers, and what becomes of the answer.

use quipu_journal::event::ReviewOutput;
use quipu_wire::{Json, ReviewTarget};
use serde_json::Value;

use super::message;

/// What a review shows that brought no answer.
pub const NO_RESPONSE: &str = "Reviewer failed to output a response.";
/// What the thread says of a review that was stopped.
pub const INTERRUPTED: &str =
    "Review was interrupted. Please re-run /review and wait for it to complete.";

/// The reviewer's base instructions.
pub fn instructions() -> &'static str {
    include_str!("prompts/review.md").trim_ascii_end()
}

/// The target without surrounding white space and without a blank title; the error is the message for
/// the client.
pub fn checked(target: ReviewTarget) -> Result<ReviewTarget, &'static str> {
    let said = |text: String, error| match text.trim() {
        "" => Err(error),
        text => Ok(text.to_owned()),
    };
    Ok(match target {
        ReviewTarget::UncommittedChanges => ReviewTarget::UncommittedChanges,
        ReviewTarget::BaseBranch { branch } => ReviewTarget::BaseBranch {
            branch: said(branch, "branch must not be empty")?,
        },
        ReviewTarget::Commit { sha, title } => ReviewTarget::Commit {
            sha: said(sha, "sha must not be empty")?,
            title: title.and_then(|title| said(title, "").ok()),
        },
        ReviewTarget::Custom { instructions } => ReviewTarget::Custom {
            instructions: said(instructions, "instructions must not be empty")?,
        },
    })
}

/// What is reviewed, in a few words for people.
pub fn label(target: &ReviewTarget) -> String {
    match target {
        ReviewTarget::UncommittedChanges => "current changes".to_owned(),
        ReviewTarget::BaseBranch { branch } => format!("changes against '{branch}'"),
        ReviewTarget::Commit { sha, title } => {
            let short: String = sha.chars().take(7).collect();
            match title {
                Some(title) => format!("commit {short}: {title}"),
                None => format!("commit {short}"),
            }
        }
        ReviewTarget::Custom { instructions } => instructions.clone(),
    }
}

/// What the reviewer is asked. `merge_base` is the commit where the branches parted, if it is known.
pub fn prompt(target: &ReviewTarget, merge_base: Option<&str>) -> String {
    match (target, merge_base) {
        (ReviewTarget::UncommittedChanges, _) => {
            "Review everything in this repository that is not \
             committed yet: staged, unstaged and untracked files."
                .to_owned()
        }
        (ReviewTarget::BaseBranch { branch }, Some(base)) => format!(
            "Review what the current branch changes compared with `{branch}`. They parted at commit \
             {base}; `git diff {base}` shows the changes."
        ),
        (ReviewTarget::BaseBranch { branch }, None) => format!(
            "Review what the current branch changes compared with `{branch}`. First find the commit \
             where they parted, with `git merge-base HEAD {branch}` or with the upstream of that \
             branch; then look at the difference between that commit and the work tree."
        ),
        (
            ReviewTarget::Commit {
                sha,
                title: Some(title),
            },
            _,
        ) => {
            format!("Review the commit {sha} (\"{title}\"); `git show {sha}` shows its changes.")
        }
        (ReviewTarget::Commit { sha, title: None }, _) => {
            format!("Review the commit {sha}; `git show {sha}` shows its changes.")
        }
        (ReviewTarget::Custom { instructions }, _) => instructions.clone(),
    }
}

/// What the reviewer found. An answer that is not in the form it was asked for counts as an explanation;
/// one without words as no answer.
pub fn parse(answer: &str) -> Option<ReviewOutput> {
    let answer = answer.trim();
    if answer.is_empty() {
        return None;
    }
    let braces = answer
        .find('{')
        .zip(answer.rfind('}'))
        .and_then(|(from, to)| answer.get(from..=to));
    let parsed = structured(answer).or_else(|| structured(braces?));
    Some(parsed.unwrap_or_else(|| ReviewOutput {
        findings: Value::Array(Vec::new()).into(),
        overall_correctness: String::new(),
        overall_explanation: answer.to_owned(),
        overall_confidence_score: 0.0,
    }))
}

fn structured(json: &str) -> Option<ReviewOutput> {
    let mut answer: Value = serde_json::from_str(json).ok()?;
    let findings = answer
        .get_mut("findings")
        .map(Value::take)
        .filter(Value::is_array);
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    let explanation = text("overall_explanation");
    if findings.is_none() && explanation.is_none() {
        return None;
    }
    let score = answer
        .get("overall_confidence_score")
        .and_then(Value::as_f64);
    Some(ReviewOutput {
        findings: findings.unwrap_or_else(|| Value::Array(Vec::new())).into(),
        overall_correctness: text("overall_correctness").unwrap_or_default(),
        overall_explanation: explanation.unwrap_or_default(),
        overall_confidence_score: score.unwrap_or_default() as f32,
    })
}

/// The findings for people.
pub fn render(output: &ReviewOutput) -> String {
    let findings = output.findings.to_value();
    let findings: Vec<_> = findings
        .as_array()
        .into_iter()
        .flatten()
        .map(finding)
        .collect();
    let mut parts = Vec::new();
    let explanation = output.overall_explanation.trim();
    if !explanation.is_empty() {
        parts.push(explanation.to_owned());
    }
    match findings.len() {
        0 => {}
        1 => parts.push("Review comment:".to_owned()),
        _ => parts.push("Full review comments:".to_owned()),
    }
    parts.extend(findings);
    if parts.is_empty() {
        NO_RESPONSE.to_owned()
    } else {
        parts.join("\n\n")
    }
}

fn finding(finding: &Value) -> String {
    let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut lines = format!("- {}", text("title"));
    if let Some(place) = place(finding) {
        lines.push_str(" — ");
        lines.push_str(&place);
    }
    for line in text("body").lines() {
        lines.push_str("\n  ");
        lines.push_str(line);
    }
    lines
}

fn place(finding: &Value) -> Option<String> {
    let location = finding.get("code_location")?;
    let path = location.get("absolute_file_path")?.as_str()?;
    let line = |end: &str| location.get("line_range")?.get(end)?.as_u64();
    match (line("start"), line("end")) {
        (Some(start), Some(end)) => Some(format!("{path}:{start}-{end}")),
        (Some(line), None) | (None, Some(line)) => Some(format!("{path}:{line}")),
        (None, None) => Some(path.to_owned()),
    }
}

/// How a review ends.
#[derive(Debug)]
pub struct Ending {
    /// What `exitedReviewMode` shows.
    pub shown: String,
    /// What the thread says.
    pub said: String,
    /// What the model of the thread learns: that there was a review, and what it said.
    pub history: [Json; 2],
}

/// The end of a review, with its answer or without.
pub fn ending(output: Option<&ReviewOutput>) -> Ending {
    let (shown, said, results) = match output {
        Some(output) => {
            let text = render(output);
            (text.clone(), text.clone(), text)
        }
        None => (
            NO_RESPONSE.to_owned(),
            INTERRUPTED.to_owned(),
            "None.".to_owned(),
        ),
    };
    let context = if output.is_some() {
        "The person asked for a review of code, which another session carried out. Its results follow; \
         the person may ask you to look into them or to act on them."
    } else {
        "The person asked for a review of code, which another session began. It was stopped before it \
         had a result; if asked about it, say that it can be started again."
    };
    let action = message::user_text(format!(
        "<user_action>\n  <context>{context}</context>\n  <action>review</action>\n  <results>\n  \
         {results}\n  </results>\n  </user_action>\n"
    ));
    let history = [action, message::assistant(said.as_str())];
    Ending {
        shown,
        said,
        history,
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::{Origin, origin};
    use super::super::tests::item;
    use super::*;

    fn rendered(answer: &str) -> String {
        render(&parse(answer).unwrap())
    }

    fn a_finding(title: &str, body: &str) -> Value {
        serde_json::json!({
            "title": title, "body": body, "confidence_score": 0.5, "priority": 1,
            "code_location": {"absolute_file_path": "/x/a.py", "line_range": {"start": 3, "end": 9}},
        })
    }

    /// Each answer was put to the reference program.
    #[test]
    fn answers_are_rendered_as_the_reference_renders_them() {
        let answer = |findings: Vec<Value>, explanation: &str| {
            serde_json::json!({
                "findings": findings, "overall_correctness": "patch is incorrect",
                "overall_explanation": explanation, "overall_confidence_score": 0.8,
            })
            .to_string()
        };
        let two = answer(
            vec![a_finding("T", "B1\nB2\n\nB3"), a_finding(" Two ", "")],
            "  Because \n",
        );
        assert_eq!(
            rendered(&two),
            "Because\n\nFull review comments:\n\n- T — /x/a.py:3-9\n  B1\n  B2\n  \n  B3\n\n-  Two  — /x/a.py:3-9"
        );
        let one = answer(vec![a_finding("T", "x\n")], "");
        assert_eq!(rendered(&one), "Review comment:\n\n- T — /x/a.py:3-9\n  x");
        let fenced = format!("Here it is: ```json\n{}\n``` done", answer(vec![], "fine"));
        assert_eq!(rendered(&fenced), "fine");
        assert_eq!(rendered(&answer(vec![], " ")), NO_RESPONSE);
        assert_eq!(rendered("plain text \n"), "plain text");
        assert_eq!(
            rendered("{not json} but {\"x\": 1}"),
            "{not json} but {\"x\": 1}"
        );
        assert!(parse(" \n").is_none());
    }

    #[test]
    fn an_answer_that_lacks_something_is_still_read() {
        let answer = r#"{"findings": [{"title": "T"}, {"title": "U", "body": "b", "code_location": {"absolute_file_path": "/f", "line_range": {"start": 4}}}]}"#;
        assert_eq!(
            rendered(answer),
            "Full review comments:\n\n- T\n\n- U — /f:4\n  b"
        );
        assert_eq!(rendered(r#"{"overall_explanation": "only"}"#), "only");
        assert_eq!(
            rendered(r#"{"findings": "none", "overall_explanation": "e"}"#),
            "e"
        );
    }

    #[test]
    fn targets_have_labels_and_prompts() {
        let commit = |title: Option<&str>| ReviewTarget::Commit {
            sha: " 0123456789abcdef ".into(),
            title: title.map(str::to_owned),
        };
        let target = checked(commit(Some(" Fix ")));
        assert_eq!(label(&target.unwrap()), "commit 0123456: Fix");
        let target = checked(commit(Some(" "))).unwrap();
        assert_eq!(label(&target), "commit 0123456");
        assert!(prompt(&target, None).contains("0123456789abcdef"));
        let branch = |branch: &str| ReviewTarget::BaseBranch {
            branch: branch.into(),
        };
        assert_eq!(label(&branch("main")), "changes against 'main'");
        assert!(prompt(&branch("main"), Some("abc")).contains("`git diff abc`"));
        assert!(prompt(&branch("main"), None).contains("`main`"));
        assert_eq!(
            checked(branch(" ")).unwrap_err(),
            "branch must not be empty"
        );
        assert_eq!(label(&ReviewTarget::UncommittedChanges), "current changes");
        let custom = ReviewTarget::Custom {
            instructions: "\tlook\n".into(),
        };
        assert_eq!(prompt(&checked(custom).unwrap(), None), "look");
    }

    /// The structure of sample 22.
    #[test]
    fn the_thread_learns_of_the_review() {
        let answer = serde_json::json!({"findings": [a_finding("[P1] Bug", "Bad")], "overall_explanation": "Because"});
        let ending = ending(parse(&answer.to_string()).as_ref());
        let text = "Because\n\nReview comment:\n\n- [P1] Bug — /x/a.py:3-9\n  Bad";
        assert_eq!((ending.shown.as_str(), ending.said.as_str()), (text, text));
        let [action, said] = &ending.history;
        let words = action.to_value()["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(words.starts_with("<user_action>\n  <context>"));
        assert!(words.ends_with(&format!(
            "</context>\n  <action>review</action>\n  <results>\n  {text}\n  </results>\n  </user_action>\n"
        )));
        assert_eq!(origin(&item(action)), Origin::Program);
        assert_eq!(*said, message::assistant(text));
        let stopped = super::ending(None);
        assert_eq!(
            (stopped.shown.as_str(), stopped.said.as_str()),
            (NO_RESPONSE, INTERRUPTED)
        );
    }
}
