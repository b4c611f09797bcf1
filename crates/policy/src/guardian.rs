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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Assessment {
    /// How risky, in words.
    pub risk_level: GuardianRiskLevel,
    /// How risky, from 0 to 100.
    pub risk_score: u8,
    /// Why.
    pub rationale: String,
}

impl Assessment {
    /// Reads the reviewer's answer, also from between other words; one that makes no sense is a denial.
    #[must_use]
    pub fn parse(answer: &str) -> Assessment {
        let braces = answer.find('{').zip(answer.rfind('}'));
        let json = braces.and_then(|(from, to)| answer.get(from..=to));
        let assessment = json.and_then(|json| serde_json::from_str::<Assessment>(json).ok());
        let is_clear = |it: &Assessment| {
            it.risk_score <= 100 && it.risk_level != GuardianRiskLevel::Unrecognized
        };
        assessment
            .filter(is_clear)
            .unwrap_or_else(|| Assessment::failed("guardian assessment was not valid JSON"))
    }

    /// The denial when the review came to nothing.
    #[must_use]
    pub fn failed(why: &str) -> Assessment {
        Assessment::denial(format!("Automatic approval review failed: {why}"))
    }

    /// The denial when the reviewer took too long.
    #[must_use]
    pub fn timed_out() -> Assessment {
        Assessment::denial(
            "Automatic approval review timed out while evaluating the requested approval."
                .to_owned(),
        )
    }

    fn denial(rationale: String) -> Assessment {
        Assessment {
            risk_level: GuardianRiskLevel::High,
            risk_score: 100,
            rationale,
        }
    }

    /// Whether the action may happen.
    #[must_use]
    pub fn approves(&self) -> bool {
        self.risk_score < DENY_FROM
    }

    /// What the model that wanted the action is told of a denial.
    #[must_use]
    pub fn refusal(&self) -> String {
        format!(
            "This action was rejected because its risk is not acceptable. Reason: {}\nDo not try to get \
             the same effect in another way. Go on with something safer, or stop and ask the person, \
             after telling them about the risk.",
            self.rationale.trim()
        )
    }
}
