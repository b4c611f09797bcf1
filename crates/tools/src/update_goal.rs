//! `update_goal`: the model says that the thread's goal is met, or cannot be.

use futures_util::future::BoxFuture;
use quipu_wire::ThreadGoalStatus;
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
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Complete,
    Blocked,
}

describe!(Arguments {
    required { status: "`complete` or `blocked`." }
    optional {}
});

impl Schema for Status {
    fn schema() -> Value {
        String::schema()
    }
}

pub(crate) struct UpdateGoal;

impl Tool for UpdateGoal {
    fn name(&self) -> &'static str {
        "update_goal"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Ends the work on the goal of this thread: it is met, or nothing you could do would bring it \
                           nearer.";
        scope
            .has_goal
            .then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(update_goal(run))
    }
}

async fn update_goal(run: &Running) -> Finished {
    let Arguments { status } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let status = match status {
        Status::Complete => ThreadGoalStatus::Complete,
        Status::Blocked => ThreadGoalStatus::Blocked,
    };
    run.host.update_goal(status).await.into()
}
