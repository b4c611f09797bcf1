//! Requests to the ChatGPT backend in the name of a login.

use reqwest::{Client, RequestBuilder};

use crate::http::Agent;
use crate::login::ChatGptLogin;

/// Where the backend at `base` has a resource: its own address has another layout than the public one.
pub(crate) fn url(base: &str, resource: &str) -> String {
    let mut base = base.trim_end_matches('/').to_owned();
    let public = ["https://chatgpt.com", "https://chat.openai.com"];
    if public.iter().any(|it| base.starts_with(it)) && !base.contains("/backend-api") {
        base.push_str("/backend-api");
    }
    let directory = if base.contains("/backend-api") {
        "wham"
    } else {
        "api/codex"
    };
    format!("{base}/{directory}/{resource}")
}

/// A request for a resource.
pub(crate) fn get(
    client: &Client,
    url: &str,
    login: &ChatGptLogin,
    agent: &Agent,
) -> RequestBuilder {
    let request = client
        .get(url)
        .header("user-agent", &agent.user_agent)
        .bearer_auth(&login.access_token);
    match &login.account_id {
        Some(account) => request.header("chatgpt-account-id", account),
        None => request,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_address_has_its_path() {
        for (base, expected) in [
            (
                "https://chatgpt.com/backend-api/",
                "https://chatgpt.com/backend-api/wham/usage",
            ),
            (
                "https://chatgpt.com",
                "https://chatgpt.com/backend-api/wham/usage",
            ),
            ("http://host:1/", "http://host:1/api/codex/usage"),
        ] {
            assert_eq!(url(base, "usage"), expected);
        }
    }
}
