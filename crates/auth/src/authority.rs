//! The identity server: where logins happen, and under which name this program asks there.

const ISSUER: &str = "https://auth.openai.com";
/// The public client of programs that speak this protocol. It is no secret: the verifier of each login is.
const CLIENT_ID: &str = "app_EMoamEEZ73f0CkXaXp7hrann";
/// The identity server sends browsers back to this port only.
const CALLBACK_PORT: u16 = 1455;

/// The identity server and how to ask it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// Its address, without a slash at the end.
    pub issuer: String,
    /// The name of this program there.
    pub client_id: String,
    /// Where tokens are refreshed.
    pub refresh_url: String,
    /// The port that browsers come back to; 0 takes a free one.
    pub callback_port: u16,
}

impl Authority {
    /// The identity server of OpenAI, unless the environment names another: `CODEX_APP_SERVER_LOGIN_ISSUER`,
    /// `CODEX_APP_SERVER_LOGIN_CLIENT_ID`, `CODEX_REFRESH_TOKEN_URL_OVERRIDE`, `QUIPU_LOGIN_PORT`.
    pub fn from_env<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        let text = |name: &str, usual: &str| get(name).unwrap_or(usual).to_owned();
        let issuer = text("CODEX_APP_SERVER_LOGIN_ISSUER", ISSUER);
        let issuer = issuer.trim_end_matches('/').to_owned();
        let port = get("QUIPU_LOGIN_PORT").and_then(|port| port.parse().ok());
        Self {
            refresh_url: text(
                "CODEX_REFRESH_TOKEN_URL_OVERRIDE",
                &format!("{issuer}/oauth/token"),
            ),
            client_id: text("CODEX_APP_SERVER_LOGIN_CLIENT_ID", CLIENT_ID),
            callback_port: port.unwrap_or(CALLBACK_PORT),
            issuer,
        }
    }

    /// Where codes are exchanged for tokens.
    pub(crate) fn token_url(&self) -> String {
        format!("{}/oauth/token", self.issuer)
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::from_env(|_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_moves_everything() {
        let usual = Authority::default();
        assert_eq!(usual.refresh_url, "https://auth.openai.com/oauth/token");
        assert_eq!(usual.callback_port, 1455);
        let moved = Authority::from_env(|name| match name {
            "CODEX_APP_SERVER_LOGIN_ISSUER" => Some("http://127.0.0.1:1/"),
            "CODEX_APP_SERVER_LOGIN_CLIENT_ID" => Some("me"),
            "QUIPU_LOGIN_PORT" => Some("0"),
            _ => None,
        });
        assert_eq!(moved.refresh_url, "http://127.0.0.1:1/oauth/token");
        assert_eq!((moved.client_id.as_str(), moved.callback_port), ("me", 0));
        let apart = Authority::from_env(|name| {
            (name == "CODEX_REFRESH_TOKEN_URL_OVERRIDE").then_some("http://x/refresh")
        });
        assert_eq!(apart.refresh_url, "http://x/refresh");
        assert_eq!(apart.token_url(), "https://auth.openai.com/oauth/token");
    }
}
