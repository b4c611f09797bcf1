//! `update_plan`: the agent shows its plan.

use futures_util::future::BoxFuture;
use quipu_engine::ToolEvent;
use quipu_wire::{TurnPlanStep, TurnPlanStepStatus};
use serde::Deserialize;
use serde_json::Value;

use crate::call::{Finished, Running};
use crate::schema::{Schema, describe};
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;

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

describe!(Arguments {
    required { plan: "All steps, in order." }
    optional { explanation: "Why the plan changed." }
});

describe!(Step {
    required {
        step: "What is to be done.",
        status: "`pending`, `in_progress` or `completed`.",
    }
    optional {}
});

impl Schema for Status {
    fn schema() -> Value {
        String::schema()
    }
}

pub(crate) struct UpdatePlan;

impl Tool for UpdatePlan {
    fn name(&self) -> &'static str {
        "update_plan"
    }

    fn spec(&self, _scope: &Scope) -> Option<Spec> {
        let description = "Shows the user your plan for a longer task and how far it has come. Keep one step in \
                           progress at a time.";
        Some(Spec::function::<Arguments>(self.name(), description))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(update_plan(run))
    }
}

async fn update_plan(run: &Running) -> Finished {
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
