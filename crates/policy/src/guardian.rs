//! Approval by a reviewing model instead of a person: when it applies, and how its answer counts.

use quipu_wire::{ApprovalsReviewer, AskForApproval, GuardianRiskLevel};
use serde::Deserialize;

/// Actions judged at least this risky are denied.
const DENY_FROM: u8 = 80;

/// Whether questions go to the reviewing model.
#[must_use]
pub fn guardian_reviews(policy: &AskForApproval, reviewer: ApprovalsReviewer) -> bool {
    *policy == AskForApproval::OnRequest && reviewer == ApprovalsReviewer::GuardianSubagent
}

/// What the reviewing model thinks of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// How risky, in words.
    pub risk_level: GuardianRiskLevel,
    /// How risky, from 0 to 100.
    pub risk_score: u8,
    /// Why.
    pub rationale: String,
}

impl Assessment {
    /// Reads the reviewer's answer; one that makes no sense is a denial.
    #[must_use]
    pub fn parse(answer: &str) -> Assessment {
        #[derive(Deserialize)]
        struct Answer {
            risk_level: String,
            risk_score: u8,
            rationale: String,
        }
        let parsed = serde_json::from_str(answer.trim()).ok();
        let parsed = parsed.filter(|answer: &Answer| answer.risk_score <= 100);
        let Some(answer) = parsed else {
            return Assessment::failed("the review gave no valid assessment");
        };
        let risk_level = match answer.risk_level.as_str() {
            "low" => GuardianRiskLevel::Low,
            "medium" => GuardianRiskLevel::Medium,
            "high" => GuardianRiskLevel::High,
            _ => return Assessment::failed("the review gave no valid assessment"),
        };
        Assessment {
            risk_level,
            risk_score: answer.risk_score,
            rationale: answer.rationale,
        }
    }

    /// The assessment when there was no review: timed out, failed or cancelled.
    #[must_use]
    pub fn failed(why: &str) -> Assessment {
        Assessment {
            risk_level: GuardianRiskLevel::High,
            risk_score: 100,
            rationale: why.to_owned(),
        }
    }

    /// Whether the action may happen.
    #[must_use]
    pub fn approves(&self) -> bool {
        self.risk_score < DENY_FROM
    }
}
