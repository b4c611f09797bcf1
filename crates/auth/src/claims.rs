//! What a token says about its owner. Signatures are not checked: the server that accepts the token does that.

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
    /// The same in the words of the token.
    pub plan_name: Option<String>,
    /// The workspace.
    pub account_id: Option<String>,
    /// The user, for programs.
    pub user_id: Option<String>,
    /// Until when the token is good, in Unix seconds.
    pub expires_at: Option<i64>,
    /// What is known of the user's organisation.
    pub organization: Organization,
}

/// The user's organisation at the provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Organization {
    /// Its name for programs.
    pub id: Option<String>,
    /// The project in it.
    pub project_id: Option<String>,
    /// Whether the user owns it and did not set it up yet.
    pub needs_setup: bool,
}

#[derive(Deserialize)]
struct Payload {
    email: Option<String>,
    exp: Option<i64>,
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
    chatgpt_user_id: Option<String>,
    user_id: Option<String>,
    organization_id: Option<String>,
    project_id: Option<String>,
    completed_platform_onboarding: bool,
    is_org_owner: bool,
}

impl Claims {
    /// Reads the payload of a JWT.
    pub fn read(token: &str) -> Result<Self, InvalidToken> {
        let mut parts = token.split('.');
        let mut part = || parts.next().filter(|part| !part.is_empty());
        let (Some(_), Some(payload), Some(_)) = (part(), part(), part()) else {
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
            plan_name: auth.chatgpt_plan_type,
            account_id: auth.chatgpt_account_id,
            user_id: auth.chatgpt_user_id.or(auth.user_id),
            expires_at: payload.exp,
            organization: Organization {
                id: auth.organization_id,
                project_id: auth.project_id,
                needs_setup: auth.is_org_owner && !auth.completed_platform_onboarding,
            },
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
