//! Accounts: logging in and out, who is logged in, and how much of a plan is used up.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

/// Parameters of `account/login/start`.
#[wire(exhaustive, tag = "type")]
pub enum LoginAccountParams {
    /// Stores an API key; nothing checks it before the first model request.
    ApiKey { api_key: String },
    /// Starts a login in the user's browser, which calls back a local port of the server.
    Chatgpt,
    /// Starts a login with a code that the user enters on any device.
    ChatgptDeviceCode,
    /// Uses tokens that the client owns and refreshes; they stay in memory.
    #[wire(experimental = "account/login/start.chatgptAuthTokens")]
    ChatgptAuthTokens {
        /// A JWT; its claims contain the email, and the plan if none is given.
        access_token: String,
        /// The workspace that the token is for.
        chatgpt_account_id: String,
        /// The plan's name; if absent, the token's claim counts, else the plan is `unknown`.
        #[wire(optional)]
        chatgpt_plan_type: Option<String>,
    },
}

/// Parameters of `account/login/cancel`.
#[wire(params, default)]
pub struct CancelLoginAccountParams {
    /// The `loginId` from the result of `account/login/start`.
    pub login_id: String,
}

/// Parameters of `account/read`.
#[wire(params, default)]
pub struct GetAccountParams {
    /// Refreshes tokens that the server manages before answering; a failure is not reported.
    #[wire(default)]
    pub refresh_token: bool,
}

/// Result of `account/login/start`.
#[wire(tag = "type")]
pub enum LoginAccountResponse {
    /// The key is stored and in use.
    ApiKey,
    /// The server waits up to 10 minutes for the browser.
    Chatgpt {
        /// Names this attempt in `account/login/cancel` and `account/login/completed`.
        login_id: String,
        /// The page to open in the user's browser; the server does not open it.
        auth_url: String,
    },
    /// The server waits up to 15 minutes for the user to enter the code.
    ChatgptDeviceCode {
        /// Names this attempt in `account/login/cancel` and `account/login/completed`.
        login_id: String,
        /// The page on which the user enters the code.
        verification_url: String,
        /// The code to show to the user.
        user_code: String,
    },
    /// The tokens are in use.
    ChatgptAuthTokens,
}

/// What became of an attempt to cancel a login.
#[wire]
pub enum CancelLoginAccountStatus {
    /// The login ends; `account/login/completed` with `success: false` follows.
    Canceled,
    /// No login with this id is pending.
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

/// The prepaid credits of an account.
#[wire]
pub struct CreditsSnapshot {
    pub has_credits: bool,
    /// Whether use is not limited by the balance.
    pub unlimited: bool,
    /// The balance in the provider's own notation, for display.
    pub balance: Option<String>,
}

/// The ChatGPT plan of an account.
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
    /// No plan is named, or one that this version does not know.
    Unknown,
}

/// How much of one limit on use is spent; members the provider did not report are null.
#[wire]
pub struct RateLimitSnapshot {
    /// Which limit this is; `codex` is the main one.
    pub limit_id: Option<String>,
    /// A name to show, for limits other than the main one.
    pub limit_name: Option<String>,
    /// The first time window that the limit counts in.
    pub primary: Option<RateLimitWindow>,
    /// The second time window, where there is one.
    pub secondary: Option<RateLimitWindow>,
    /// Set on the main limit only.
    pub credits: Option<CreditsSnapshot>,
    pub plan_type: Option<PlanType>,
}

/// One time window of a limit.
#[wire]
pub struct RateLimitWindow {
    /// The spent share of what the window allows, in percent.
    pub used_percent: i32,
    /// The length of the window in minutes.
    pub window_duration_mins: Option<i64>,
    /// When the next window starts, in Unix seconds.
    pub resets_at: Option<i64>,
}

/// Result of `account/rateLimits/read`.
#[wire]
pub struct GetAccountRateLimitsResponse {
    /// The main limit, for clients that show only one.
    pub rate_limits: RateLimitSnapshot,
    /// All limits by their `limitId`, the main one included.
    pub rate_limits_by_limit_id: Option<BTreeMap<String, RateLimitSnapshot>>,
}

/// Who is logged in.
#[wire(tag = "type")]
pub enum Account {
    /// An API key is in use, which says nothing about its owner.
    ApiKey,
    /// A ChatGPT login, whether the server or the client manages its tokens.
    Chatgpt { email: String, plan_type: PlanType },
}

/// Result of `account/read`.
#[wire]
pub struct GetAccountResponse {
    /// Null when nobody is logged in, and when the configured provider needs no login.
    pub account: Option<Account>,
    /// Whether the configured model provider works only with an OpenAI login.
    pub requires_openai_auth: bool,
}

/// How requests to OpenAI are authenticated.
#[wire(root, apart)]
pub enum AuthMode {
    /// With a stored API key.
    Apikey,
    /// With ChatGPT tokens that the server obtained and refreshes.
    Chatgpt,
    /// With ChatGPT tokens that the client brings and refreshes.
    ChatgptAuthTokens,
}

/// Parameters of the notification `account/updated`.
#[wire]
pub struct AccountUpdatedNotification {
    /// Null after a logout.
    pub auth_mode: Option<AuthMode>,
    /// Null unless it is a ChatGPT login.
    pub plan_type: Option<PlanType>,
}

/// Parameters of the notification `account/rateLimits/updated`.
#[wire]
pub struct AccountRateLimitsUpdatedNotification {
    /// Comes with every model response, even if the provider reported no limits.
    pub rate_limits: RateLimitSnapshot,
}

/// Parameters of the notification `account/login/completed`.
#[wire]
pub struct AccountLoginCompletedNotification {
    /// The attempt that ended; null for API keys and for tokens of the client.
    pub login_id: Option<String>,
    pub success: bool,
    /// Why the login failed; null on success.
    pub error: Option<String>,
}

/// Parameters of `account/bedrock/checkGovCloudRequirements`.
#[wire(params, default)]
pub struct BedrockCheckGovCloudRequirementsParams {}

/// Result of `account/bedrock/checkGovCloudRequirements`.
#[wire]
pub struct BedrockCheckGovCloudRequirementsResponse {
    /// Always false: no account of Amazon Bedrock is managed.
    pub is_gov_cloud: bool,
    /// Always false.
    pub should_warn: bool,
}
