//! What a token says about its owner. Signatures are not checked: whoever accepts the token does that.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quipu_wire::PlanType;
use serde::Deserialize;

/// The token is not a JWT with a readable payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid ID token format")]
pub struct InvalidToken;

/// The claims in use.
#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    /// The address of the user.
    pub email: Option<String>,
    /// What the user pays for.
    pub plan: Option<PlanType>,
    /// The workspace.
    pub account_id: Option<String>,
}

#[derive(Deserialize)]
struct Payload {
    email: Option<String>,
    #[serde(rename = "https://api.openai.com/profile")]
    profile: Option<Profile>,
    #[serde(rename = "https://api.openai.com/auth")]
    auth: Option<Auth>,
}

#[derive(Deserialize)]
struct Profile {
    email: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Auth {
    chatgpt_plan_type: Option<String>,
    chatgpt_account_id: Option<String>,
}

impl Claims {
    /// Reads the payload of a JWT.
    pub fn read(token: &str) -> Result<Self, InvalidToken> {
        let mut parts = token.split('.');
        let (Some(_), Some(payload), Some(_), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(InvalidToken);
        };
        let bytes = URL_SAFE_NO_PAD.decode(payload).map_err(|_| InvalidToken)?;
        let payload: Payload = serde_json::from_slice(&bytes).map_err(|_| InvalidToken)?;
        let auth = payload.auth.unwrap_or_default();
        Ok(Self {
            email: payload
                .email
                .or_else(|| payload.profile.and_then(|profile| profile.email)),
            plan: auth.chatgpt_plan_type.as_deref().map(plan),
            account_id: auth.chatgpt_account_id,
        })
    }
}

/// The plan of this name.
pub(crate) fn plan(name: &str) -> PlanType {
    match name.to_ascii_lowercase().as_str() {
        "free" => PlanType::Free,
        "go" => PlanType::Go,
        "plus" => PlanType::Plus,
        "pro" => PlanType::Pro,
        "team" => PlanType::Team,
        "self_serve_business_usage_based" => PlanType::SelfServeBusinessUsageBased,
        "business" => PlanType::Business,
        "enterprise_cbp_usage_based" => PlanType::EnterpriseCbpUsageBased,
        "enterprise" | "hc" => PlanType::Enterprise,
        "edu" | "education" => PlanType::Edu,
        _ => PlanType::Unknown,
    }
}
