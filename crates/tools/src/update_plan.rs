//! `update_plan`: the agent shows its plan.

use quipu_engine::ToolEvent;
use quipu_wire::{TurnPlanStep, TurnPlanStepStatus};
use serde::Deserialize;

use crate::call::{Finished, Running};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    explanation: Option<String>,
    plan: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    step: String,
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

pub(crate) async fn update_plan(run: &Running) -> Finished {
    if run.scope.plan_mode {
        return "update_plan is a TODO/checklist tool and is not allowed in Plan mode".into();
    }
    let Arguments { explanation, plan } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let plan = plan.into_iter().map(|step| TurnPlanStep {
        step: step.step,
        status: match step.status {
            Status::Pending => TurnPlanStepStatus::Pending,
            Status::InProgress => TurnPlanStepStatus::InProgress,
            Status::Completed => TurnPlanStepStatus::Completed,
        },
    });
    run.report(ToolEvent::PlanUpdated {
        explanation,
        plan: plan.collect(),
    })
    .await;
    "Plan updated".into()
}
