//! `request_user_input`: the agent asks the user questions.

use futures_util::future::BoxFuture;
use quipu_engine::Waiting;
use quipu_wire::{
    ServerRequest, ToolRequestUserInputOption, ToolRequestUserInputParams,
    ToolRequestUserInputQuestion, ToolRequestUserInputResponse,
};
use serde::Deserialize;

use crate::call::{Finished, Running};
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;

#[derive(Deserialize)]
struct Arguments {
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    header: String,
    question: String,
    options: Option<Vec<Choice>>,
}

#[derive(Deserialize)]
struct Choice {
    label: String,
    description: String,
}

describe!(Arguments {
    required { questions }
    optional {}
});

describe!(Question {
    required {
        id: "A name for the question, in snake_case.",
        header: "One or two words that say what it is about.",
        question: "The question, in one sentence.",
        options: "Two or three answers, the best first.",
    }
    optional {}
});

describe!(Choice {
    required {
        label: "The answer in a few words.",
        description: "What choosing it means.",
    }
    optional {}
});

pub(crate) struct RequestUserInput;

impl Tool for RequestUserInput {
    fn name(&self) -> &'static str {
        "request_user_input"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Asks the user one to three short questions and waits for the answers. Only in plan mode.";
        (!scope.is_subagent).then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(request_user_input(run))
    }
}

async fn request_user_input(run: &Running) -> Finished {
    if !run.scope.plan_mode && !run.scope.features.ask_anytime {
        return "request_user_input is unavailable in Default mode".into();
    }
    let Arguments { questions } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    let has_options =
        |question: &Question| question.options.as_ref().is_some_and(|it| !it.is_empty());
    if !questions.iter().all(has_options) {
        return "request_user_input requires non-empty options for every question".into();
    }
    let questions = questions
        .into_iter()
        .map(|question| ToolRequestUserInputQuestion {
            id: question.id,
            header: question.header,
            question: question.question,
            is_other: true,
            is_secret: false,
            options: question
                .options
                .map(|it| it.into_iter().map(option).collect()),
        });
    let request = ServerRequest::ItemToolRequestUserInput(ToolRequestUserInputParams {
        thread_id: run.scope.thread_id.to_string(),
        turn_id: run.scope.turn_id.to_string(),
        item_id: run.id().to_string(),
        questions: questions.collect(),
        is_blocking: true,
    });
    let answers = match run.ask(request, Some(Waiting::UserInput)).await {
        None => return "request_user_input was cancelled before receiving a response".into(),
        Some(Ok(json)) => json.parse().unwrap_or_else(|_| nothing()),
        Some(Err(())) => nothing(),
    };
    serde_json::to_string(&answers).unwrap_or_default().into()
}

fn option(choice: Choice) -> ToolRequestUserInputOption {
    ToolRequestUserInputOption {
        label: choice.label,
        description: choice.description,
    }
}

fn nothing() -> ToolRequestUserInputResponse {
    ToolRequestUserInputResponse {
        answers: Default::default(),
    }
}
