//! Methods of the protocol that this server does not have, and why. Clients get that as an answer, rather than that the
//! method is unknown.

/// Reasons by method, or by the beginning of its name if that ends with a slash.
const REASONS: &[(&str, &str)] = &[
    (
        "account/bedrock/discover",
        "accounts of cloud providers are not managed; set the provider's keys in config.toml",
    ),
    (
        "account/bedrock/setup",
        "accounts of cloud providers are not managed; set the provider's keys in config.toml",
    ),
    (
        "account/gatewayOAuth/",
        "no provider logs in through a gateway",
    ),
    (
        "account/gcp/setup",
        "accounts of cloud providers are not managed; set the provider's keys in config.toml",
    ),
    (
        "account/rateLimitResetCredit/consume",
        "credits are managed on the provider's own pages",
    ),
    (
        "account/sendAddCreditsNudgeEmail",
        "credits are managed on the provider's own pages",
    ),
    (
        "account/usage/read",
        "the provider's usage pages are not read; see account/rateLimits/read",
    ),
    (
        "account/workspaceMessages/read",
        "messages of a workspace are not read",
    ),
    (
        "accountSession/",
        "there is one account at a time; log out to change it",
    ),
    ("app/installed", "apps are listed by app/list"),
    ("app/read", "apps are listed by app/list"),
    ("attestation/", "clients are not attested"),
    (
        "environment/add",
        "commands run on this machine only; the environment `local` is built in",
    ),
    (
        "externalAgentConfig/import/",
        "no history of imports is kept",
    ),
    ("feedback/save", "reports are sent by feedback/upload"),
    ("mcpServer/event/", "events of MCP servers are not streamed"),
    ("memory/", "no memories are kept between threads"),
    (
        "plugin/reconcile",
        "plugins are installed one by one, by plugin/install",
    ),
    ("plugin/share/", "plugins are not shared through an account"),
    (
        "plugin/skill/read",
        "the skills of a plugin are in plugin/read",
    ),
    (
        "project/",
        "threads are not grouped in projects; thread/list filters by directory",
    ),
    (
        "remoteControl/",
        "this server is not controlled through an account; connect to it with --listen",
    ),
    ("rollout/compress", "stored threads are not compressed"),
    (
        "thread/approveGuardianDeniedAction",
        "a denied action is not approved later; start a turn that asks for it",
    ),
    ("thread/memory/", "no memories are kept between threads"),
    ("thread/memoryMode/", "no memories are kept between threads"),
    (
        "thread/prediction/",
        "what the user may say next is not predicted",
    ),
    (
        "thread/realtime/appendSpeech",
        "voice sessions take sound by thread/realtime/appendAudio",
    ),
    (
        "thread/realtime/listVoices",
        "the voices are the provider's",
    ),
    ("userVerification/", "users are not verified by a device"),
];

/// Why a method of the protocol is not there; `None` if it is none.
pub(crate) fn reason(method: &str) -> Option<&'static str> {
    let is_meant = |known: &str| match known.ends_with('/') {
        true => method.starts_with(known),
        false => {
            method == known
                || method
                    .strip_prefix(known)
                    .is_some_and(|it| it.starts_with('/'))
        }
    };
    let row = REASONS.iter().find(|(known, _)| is_meant(known));
    row.map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use quipu_wire::method::CLIENT_REQUESTS;

    use super::*;

    #[test]
    fn no_method_that_is_there_has_a_reason_not_to_be() {
        for row in CLIENT_REQUESTS {
            assert_eq!(reason(row.name), None, "{}", row.name);
        }
        assert!(reason("project/list").is_some());
        assert!(reason("app/installed").is_some());
        assert_eq!(reason("nope"), None);
    }
}
