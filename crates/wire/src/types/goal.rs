//! The goal of a thread: the server starts turns by itself until it is met.

use quipu_wire_macros::wire;

/// Who changes a goal.
#[wire(exhaustive)]
pub enum ThreadGoalMutationOrigin {
    User,
    /// A client on its own.
    Automatic,
}

/// How far a goal has come. Only while it is `active` does the server start turns by itself.
#[wire]
pub enum ThreadGoalStatus {
    Active,
    /// By the user, who interrupted a turn, or after very many turns in a row.
    Paused,
    /// A turn failed, or the model sees no way to go on.
    Blocked,
    /// The account's plan or quota is spent.
    UsageLimited,
    /// The tokens of its budget are spent.
    BudgetLimited,
    /// The model says that it is met.
    Complete,
}

/// The goal of a thread.
#[wire]
pub struct ThreadGoal {
    pub thread_id: String,
    pub objective: String,
    pub status: ThreadGoalStatus,
    /// The tokens that may be used; null for no limit.
    pub token_budget: Option<i64>,
    /// The tokens used by turns while it was active, without those that the provider had cached.
    pub tokens_used: i64,
    /// The time that such turns took.
    pub time_used_seconds: i64,
    /// In Unix seconds.
    pub created_at: i64,
    /// In Unix seconds.
    pub updated_at: i64,
}

/// Parameters of `thread/goal/set`. What is absent stays as it is.
#[wire(params, default)]
pub struct ThreadGoalSetParams {
    pub thread_id: String,
    /// Has no effect.
    pub origin: Option<ThreadGoalMutationOrigin>,
    /// A new goal, which replaces the one before; must not be empty.
    pub objective: Option<String>,
    /// `active` for a new goal.
    pub status: Option<ThreadGoalStatus>,
    /// Must be positive; null for no limit.
    pub token_budget: Option<Option<i64>>,
}

/// Result of `thread/goal/set`.
#[wire]
pub struct ThreadGoalSetResponse {
    pub goal: ThreadGoal,
}

/// Parameters of `thread/goal/get`.
#[wire(params, default)]
pub struct ThreadGoalGetParams {
    pub thread_id: String,
}

/// Result of `thread/goal/get`.
#[wire]
pub struct ThreadGoalGetResponse {
    /// Null if the thread has none.
    pub goal: Option<ThreadGoal>,
}

/// Parameters of `thread/goal/clear`.
#[wire(params, default)]
pub struct ThreadGoalClearParams {
    pub thread_id: String,
}

/// Result of `thread/goal/clear`.
#[wire]
pub struct ThreadGoalClearResponse {
    /// Whether there was a goal.
    pub cleared: bool,
}

/// Parameters of the notification `thread/goal/updated`.
#[wire]
pub struct ThreadGoalUpdatedNotification {
    pub thread_id: String,
    /// The turn that changed it; null if a client did.
    pub turn_id: Option<String>,
    pub goal: ThreadGoal,
}

/// Parameters of the notification `thread/goal/cleared`.
#[wire]
pub struct ThreadGoalClearedNotification {
    pub thread_id: String,
}
