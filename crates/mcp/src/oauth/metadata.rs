//! How to log in at a server: the documents that it, or the address it sends us to, publishes about itself.

use std::path::Path;
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::http::read_body;
use crate::http_client;

const PATIENCE: Duration = Duration::from_secs(5);
const MAX_BYTES: usize = 1024 * 1024;
/// The version under which servers were first asked so; newer ones answer it too.
const PROTOCOL: &str = "2024-11-05";

/// Where a login takes place.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Metadata {
    pub authorization_endpoint: Address,
    pub token_endpoint: Address,
    pub registration_endpoint: Option<Address>,
    #[serde(default)]
    pub scopes_supported: Vec<String>,
}

/// Which servers log people in on behalf of this one.
#[derive(Deserialize)]
struct ProtectedResource {
    #[serde(default)]
    authorization_servers: Vec<Address>,
}

/// An address in a document.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Address(pub Url);

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Address, String> {
        let url = Url::parse(&text);
        url.map(Address).map_err(|error| error.to_string())
    }
}

/// Whether a server at this address offers a login.
pub async fn supports_login(url: &str, certificates: Option<&Path>) -> bool {
    let (Ok(url), Ok(client)) = (Url::parse(url), http_client::build(certificates)) else {
        return false;
    };
    discover(&client, &url).await.is_some()
}

/// Finds out how to log in at an address; `None` if it does not say.
pub(crate) async fn discover(client: &reqwest::Client, url: &Url) -> Option<Metadata> {
    if let Some(metadata) = of_authority(client, url).await {
        return Some(metadata);
    }
    // The address itself says nothing, but may name who does.
    for place in places(url, "oauth-protected-resource") {
        let Some(resource) = get::<ProtectedResource>(client, place).await else {
            continue;
        };
        for Address(authority) in resource.authorization_servers.into_iter().take(3) {
            if let Some(metadata) = of_authority(client, &authority).await {
                return Some(metadata);
            }
        }
    }
    None
}

async fn of_authority(client: &reqwest::Client, url: &Url) -> Option<Metadata> {
    for place in places(url, "oauth-authorization-server") {
        if let Some(metadata) = get(client, place).await {
            return Some(metadata);
        }
    }
    None
}

/// Where a document of this kind may be, most specific first.
fn places(url: &Url, kind: &str) -> Vec<Url> {
    let path = url.path().trim_matches('/');
    let well_known = format!("/.well-known/{kind}");
    let mut paths = vec![well_known.clone()];
    if !path.is_empty() {
        paths.insert(0, format!("{well_known}/{path}"));
        paths.insert(1, format!("/{path}{well_known}"));
    }
    let at = |path: String| {
        let mut place = url.clone();
        place.set_path(&path);
        place.set_query(None);
        place.set_fragment(None);
        place
    };
    paths.into_iter().map(at).collect()
}

async fn get<T: DeserializeOwned>(client: &reqwest::Client, url: Url) -> Option<T> {
    let request = client.get(url).header("MCP-Protocol-Version", PROTOCOL);
    let response = request.timeout(PATIENCE).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let body = read_body(response, MAX_BYTES).await.ok()?;
    serde_json::from_slice(&body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(url: &str) -> Vec<String> {
        let url = Url::parse(url).unwrap();
        let places = places(&url, "oauth-authorization-server");
        places.into_iter().map(|it| it.path().to_owned()).collect()
    }

    #[test]
    fn documents_are_looked_for_from_the_most_specific_place() {
        let with_path = [
            "/.well-known/oauth-authorization-server/a/mcp",
            "/a/mcp/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server",
        ];
        assert_eq!(listed("https://h/a/mcp/?x=1"), with_path);
        assert_eq!(listed("https://h"), with_path[2..]);
    }
}
