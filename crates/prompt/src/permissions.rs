//! What the model may do on its own and how it asks for more: the `<permissions instructions>` block.

use quipu_wire::{ApprovalsReviewer, AskForApproval, NetworkAccess, SandboxPolicy};

use super::facts::Facts;

/// The most allowed prefixes that are listed, and the most characters of them.
const MAX_PREFIXES: usize = 100;
const MAX_PREFIX_CHARS: usize = 5_000;

/// The block.
pub fn block(facts: &Facts) -> String {
    let parts = [
        Some(sandbox(&facts.sandbox)),
        Some(approvals(facts)),
        reviewer(facts),
        writable(facts),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!(
        "<permissions instructions>\n{}\n</permissions instructions>",
        parts.join("\n\n")
    )
}

fn sandbox(policy: &SandboxPolicy) -> String {
    let (mode, meaning, network) = match policy {
        SandboxPolicy::ReadOnly { network_access, .. } => (
            "read-only",
            "commands can read files but not change any",
            *network_access,
        ),
        SandboxPolicy::WorkspaceWrite { network_access, .. } => (
            "workspace-write",
            "commands can read files, and change files only below the writable roots",
            *network_access,
        ),
        SandboxPolicy::ExternalSandbox { network_access } => (
            "danger-full-access",
            "nothing here limits what commands do to files",
            *network_access == NetworkAccess::Enabled,
        ),
        _ => (
            "danger-full-access",
            "nothing limits what commands do to files",
            true,
        ),
    };
    let network = if network { "enabled" } else { "restricted" };
    format!("`sandbox_mode` is `{mode}`: {meaning}. Network access is {network}.")
}

fn is_sandboxed(policy: &SandboxPolicy) -> bool {
    matches!(
        policy,
        SandboxPolicy::ReadOnly { .. } | SandboxPolicy::WorkspaceWrite { .. }
    )
}

fn approvals(facts: &Facts) -> String {
    match &facts.approval_policy {
        AskForApproval::Untrusted => "`approval_policy` is `untrusted`: apart from commands that are \
             known to only read, every command is shown to the person first, who may refuse it. Call \
             the tool as usual; the question is asked for you."
            .to_owned(),
        AskForApproval::OnFailure => "`approval_policy` is `on-failure`: commands run inside the \
             sandbox. When one fails there, the person is asked whether it may run again outside of \
             it; the question is asked for you."
            .to_owned(),
        AskForApproval::OnRequest if !is_sandboxed(&facts.sandbox) => "`approval_policy` is \
             `on-request`: since there is no sandbox to leave, you need not ask for anything. The \
             person may still be asked about single commands."
            .to_owned(),
        AskForApproval::OnRequest => {
            let intro = "`approval_policy` is `on-request`: commands run inside the sandbox, and you \
                 may ask for one of them to be allowed more.";
            format!("{intro}\n\n{}", asking(facts))
        }
        AskForApproval::Granular {
            sandbox_approval,
            rules,
            skill_approval,
            request_permissions,
            mcp_elicitations,
        } => {
            let kinds = [
                ("sandbox_approval", *sandbox_approval),
                ("rules", *rules),
                ("skill_approval", *skill_approval),
                ("request_permissions", *request_permissions),
                ("mcp_elicitations", *mcp_elicitations),
            ];
            let mut text = granular(&kinds);
            if *sandbox_approval && is_sandboxed(&facts.sandbox) {
                text.push_str("\n\n");
                text.push_str(&asking(facts));
            }
            text
        }
        _ => "`approval_policy` is `never`: nobody is there to approve anything. Do not pass \
             `sandbox_permissions`; a call that asks for more is refused. Do what can be done within \
             the limits, and say at the end what they kept you from doing."
            .to_owned(),
    }
}

fn granular(kinds: &[(&str, bool)]) -> String {
    let list = |asked: bool| {
        let names = kinds
            .iter()
            .filter(|(_, is)| *is == asked)
            .map(|(name, _)| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut text = String::from("`approval_policy` is `granular`.");
    for (asked, meaning) in [
        (true, "reach the person"),
        (false, "are refused at once, without asking"),
    ] {
        let names = list(asked);
        if !names.is_empty() {
            text.push_str(&format!(" Questions of these kinds {meaning}: {names}."));
        }
    }
    text
}

/// How to ask for more, and what needs no asking.
fn asking(facts: &Facts) -> String {
    let escalation = facts.escalation;
    let how = if escalation.additional_permissions {
        include_str!("prompts/approval_additional_permissions.md")
    } else {
        include_str!("prompts/approval_on_request.md")
    };
    let mut text = how.trim_end().to_owned();
    if escalation.request_permissions_tool {
        text.push_str(
            "\n\nIf you will need the same further paths or the network for several commands, ask once \
             with the tool `request_permissions`; what is granted holds for later commands without \
             further parameters.",
        );
    }
    if let Some(list) = prefixes(&facts.allowed_prefixes) {
        text.push_str("\n\n");
        text.push_str(&list);
    }
    text
}

fn prefixes(allowed: &[Vec<String>]) -> Option<String> {
    let mut allowed: Vec<_> = allowed.iter().filter(|words| !words.is_empty()).collect();
    if allowed.is_empty() {
        return None;
    }
    allowed.sort_by_key(|words| {
        (
            words.len(),
            words.iter().map(String::len).sum::<usize>(),
            *words,
        )
    });
    allowed.dedup();
    let mut text = String::from(
        "## Approved command prefixes\n\nCommands that begin with one of these run outside the sandbox \
         without a question:\n",
    );
    let mut left = MAX_PREFIX_CHARS;
    let mut shown = 0;
    for words in allowed.iter().take(MAX_PREFIXES) {
        let line = format!("\n- {}", serde_json::Value::from(words.as_slice()));
        let Some(rest) = left.checked_sub(line.chars().count()) else {
            break;
        };
        text.push_str(&line);
        left = rest;
        shown += 1;
    }
    if shown < allowed.len() {
        text.push_str(&format!(
            "\n\n({} more are not listed.)",
            allowed.len() - shown
        ));
    }
    Some(text)
}

fn reviewer(facts: &Facts) -> Option<String> {
    let asks = facts.approval_policy != AskForApproval::Never;
    (asks && facts.approvals_reviewer == ApprovalsReviewer::GuardianSubagent).then(|| {
        "`approvals_reviewer` is `guardian_subagent`: a reviewing model answers these questions in the \
         person's place. Let the justification say exactly what the action does and why the task \
         needs it. After a refusal, choose a safer way or ask the person; do not try the same again \
         in another form."
            .to_owned()
    })
}

fn writable(facts: &Facts) -> Option<String> {
    if !matches!(facts.sandbox, SandboxPolicy::WorkspaceWrite { .. }) {
        return None;
    }
    let roots: Vec<_> = facts
        .writable_roots
        .iter()
        .map(|root| format!("`{root}`"))
        .collect();
    match roots.as_slice() {
        [] => None,
        [root] => Some(format!("The writable root is {root}.")),
        roots => Some(format!("The writable roots are {}.", roots.join(", "))),
    }
}
