//! Goals as data: how a request changes one. Threads that are loaded own theirs (`threads/goal.rs`).

use quipu_wire::{ThreadGoal, ThreadGoalSetParams, ThreadGoalStatus};

use crate::{Refusal, clock};

/// The longest objective, in characters.
const MAX_OBJECTIVE: usize = 4_000;

/// The goal after a request to set it.
pub(crate) fn changed(
    before: Option<&ThreadGoal>,
    params: ThreadGoalSetParams,
) -> Result<ThreadGoal, Refusal> {
    let now = clock::unix_seconds();
    let refuse = |text: &str| Err(Refusal::invalid_request(text));
    if let Some(Some(budget)) = params.token_budget
        && budget <= 0
    {
        return refuse("goal budgets must be positive when provided");
    }
    let mut goal = match (params.objective, before) {
        (Some(objective), _) if objective.trim().is_empty() => {
            return refuse("goal objective must not be empty");
        }
        (Some(objective), _) if objective.trim().chars().count() > MAX_OBJECTIVE => {
            return refuse(&format!(
                "goal objective must be at most {MAX_OBJECTIVE} characters"
            ));
        }
        (Some(objective), _) => ThreadGoal {
            thread_id: params.thread_id,
            objective: objective.trim().to_owned(),
            status: ThreadGoalStatus::Active,
            token_budget: None,
            tokens_used: 0,
            time_used_seconds: 0,
            created_at: now,
            updated_at: now,
        },
        (None, Some(goal)) => goal.clone(),
        (None, None) => {
            return refuse(&format!(
                "cannot update goal for thread {}: no goal exists",
                params.thread_id
            ));
        }
    };
    goal.status = params.status.unwrap_or(goal.status);
    goal.token_budget = params.token_budget.unwrap_or(goal.token_budget);
    goal.updated_at = now;
    if goal.status == ThreadGoalStatus::Active && is_spent(&goal) {
        goal.status = ThreadGoalStatus::BudgetLimited;
    }
    Ok(goal)
}

/// Whether the budget is used up.
pub(crate) fn is_spent(goal: &ThreadGoal) -> bool {
    goal.token_budget
        .is_some_and(|budget| goal.tokens_used >= budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(objective: Option<&str>) -> ThreadGoalSetParams {
        ThreadGoalSetParams {
            thread_id: "T".to_owned(),
            objective: objective.map(str::to_owned),
            ..ThreadGoalSetParams::default()
        }
    }

    #[test]
    fn a_goal_is_set_and_changed_in_parts() {
        let goal = changed(None, set(Some(" win "))).unwrap();
        assert_eq!(goal.objective, "win");
        assert_eq!(goal.status, ThreadGoalStatus::Active);
        let used = ThreadGoal {
            tokens_used: 50,
            ..goal
        };
        let limited = ThreadGoalSetParams {
            token_budget: Some(Some(50)),
            ..set(None)
        };
        let spent = changed(Some(&used), limited.clone()).unwrap();
        assert_eq!(spent.status, ThreadGoalStatus::BudgetLimited);
        let unlimited = ThreadGoalSetParams {
            token_budget: Some(None),
            status: Some(ThreadGoalStatus::Active),
            ..limited
        };
        let again = changed(Some(&spent), unlimited).unwrap();
        assert_eq!(again.status, ThreadGoalStatus::Active);
        assert_eq!(again.tokens_used, 50);
    }

    #[test]
    fn what_makes_no_goal_is_refused() {
        let refused = |params| changed(None, params).unwrap_err().to_string();
        assert_eq!(refused(set(Some(" "))), "goal objective must not be empty");
        let text = "cannot update goal for thread T: no goal exists";
        assert_eq!(refused(set(None)), text);
        let budget = ThreadGoalSetParams {
            token_budget: Some(Some(-1)),
            ..set(Some("win"))
        };
        let text = "goal budgets must be positive when provided";
        assert_eq!(refused(budget), text);
    }
}
