//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

/// Parameters of `account/login/start`.
#[wire(exhaustive, tag = "type")]
pub enum LoginAccountParams {
    ApiKey {
        api_key: String,
    },
    Chatgpt,
    ChatgptDeviceCode,
    #[wire(experimental = "account/login/start.chatgptAuthTokens")]
    ChatgptAuthTokens {
        access_token: String,
        chatgpt_account_id: String,
        #[wire(optional)]
        chatgpt_plan_type: Option<String>,
    },
}

/// Parameters of `account/login/cancel`.
#[wire(params, default)]
pub struct CancelLoginAccountParams {
    pub login_id: String,
}

/// Parameters of `account/read`.
#[wire(params, default)]
pub struct GetAccountParams {
    #[wire(default)]
    pub refresh_token: bool,
}

/// Result of `account/login/start`.
#[wire(tag = "type")]
pub enum LoginAccountResponse {
    ApiKey,
    Chatgpt {
        login_id: String,
        auth_url: String,
    },
    ChatgptDeviceCode {
        login_id: String,
        verification_url: String,
        user_code: String,
    },
    ChatgptAuthTokens,
}

/// DOC
#[wire]
pub enum CancelLoginAccountStatus {
    Canceled,
    NotFound,
}

/// Result of `account/login/cancel`.
#[wire]
pub struct CancelLoginAccountResponse {
    pub status: CancelLoginAccountStatus,
}

/// Result of `account/logout`.
#[wire]
pub struct LogoutAccountResponse {}

/// DOC
#[wire]
pub struct CreditsSnapshot {
    pub has_credits: bool,
    pub unlimited: bool,
    pub balance: Option<String>,
}

/// DOC
#[wire(root, snake)]
pub enum PlanType {
    Free,
    Go,
    Plus,
    Pro,
    Team,
    SelfServeBusinessUsageBased,
    Business,
    EnterpriseCbpUsageBased,
    Enterprise,
    Edu,
    Unknown,
}

/// DOC
#[wire]
pub struct RateLimitSnapshot {
    pub limit_id: Option<String>,
    pub limit_name: Option<String>,
    pub primary: Option<RateLimitWindow>,
    pub secondary: Option<RateLimitWindow>,
    pub credits: Option<CreditsSnapshot>,
    pub plan_type: Option<PlanType>,
}

/// DOC
#[wire]
pub struct RateLimitWindow {
    pub used_percent: i32,
    pub window_duration_mins: Option<i64>,
    pub resets_at: Option<i64>,
}

/// Result of `account/rateLimits/read`.
#[wire]
pub struct GetAccountRateLimitsResponse {
    pub rate_limits: RateLimitSnapshot,
    pub rate_limits_by_limit_id: Option<BTreeMap<String, RateLimitSnapshot>>,
}

/// DOC
#[wire(tag = "type")]
pub enum Account {
    ApiKey,
    Chatgpt { email: String, plan_type: PlanType },
}

/// Result of `account/read`.
#[wire]
pub struct GetAccountResponse {
    pub account: Option<Account>,
    pub requires_openai_auth: bool,
}

/// DOC
#[wire(root, apart)]
pub enum AuthMode {
    Apikey,
    Chatgpt,
    ChatgptAuthTokens,
}

/// Parameters of the notification `account/updated`.
#[wire]
pub struct AccountUpdatedNotification {
    pub auth_mode: Option<AuthMode>,
    pub plan_type: Option<PlanType>,
}

/// Parameters of the notification `account/rateLimits/updated`.
#[wire]
pub struct AccountRateLimitsUpdatedNotification {
    pub rate_limits: RateLimitSnapshot,
}

/// Parameters of the notification `account/login/completed`.
#[wire]
pub struct AccountLoginCompletedNotification {
    pub login_id: Option<String>,
    pub success: bool,
    pub error: Option<String>,
}
