//! `apply_patch`: changes to files, checked as a whole before the first is written.

use std::path::Path;

use futures_util::future::BoxFuture;
use quipu_engine::{CallKind, ToolDelta, ToolEvent};
use quipu_patch::{
    Call as PatchCall, Change, ChangeKind, Operation, Patch, Plan, Target, TurnDiff, detect,
    prepare,
};
use quipu_policy::patches::{PatchFile, PatchVerdict, decide_patch};
use quipu_policy::texts::PATCH_REJECTED;
use quipu_sandbox::Rules;
use quipu_wire::{FileUpdateChange, PatchApplyStatus, PatchChangeKind, ThreadItem};
use serde::Deserialize;

use crate::approval::{Approval, ask_patch};
use crate::call::{Finished, Running};
use crate::guardian::Action;
use crate::run_command::json_report;
use crate::sandboxing;
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::{Spec, SpecKind};
use crate::tool::{Reach, ReportStyle, Tool};
use crate::toolbox::Patches;

/// The patch language for providers that constrain what a model may write.
const GRAMMAR: &str = r#"start: "*** Begin Patch" LF op+ "*** End Patch" LF?
op: add | delete | update
add: "*** Add File: " PATH LF added+
delete: "*** Delete File: " PATH LF
update: "*** Update File: " PATH LF move? hunk*
move: "*** Move to: " PATH LF
hunk: place? line+ eof?
place: ("@@" | "@@ " /[^\n]+/) LF
added: "+" /[^\n]*/ LF
line: ("+" | "-" | " ") /[^\n]*/ LF
eof: "*** End of File" LF
PATH: /[^\n]+/
LF: /\n/
"#;

const DESCRIPTION: &str = "Adds, changes, moves and deletes files. A patch starts with `*** Begin Patch` and ends with \
    `*** End Patch`; between them come `*** Add File: PATH` with `+` lines, `*** Delete File: PATH`, or `*** Update \
    File: PATH` (and `*** Move to: PATH`) with hunks: `@@` and a line to find the place by, then lines that begin \
    with a space (kept), `-` (removed) or `+` (added).";

#[derive(Deserialize)]
struct Arguments {
    input: String,
}

describe!(Arguments {
    required { input: "The whole patch." }
    optional {}
});

pub(crate) struct ApplyPatch;

impl Tool for ApplyPatch {
    fn name(&self) -> &'static str {
        "apply_patch"
    }

    fn reach(&self) -> Reach {
        Reach::Machine
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let mut spec = Spec::function::<Arguments>(self.name(), DESCRIPTION);
        if scope.patch_as_text? {
            spec.kind = SpecKind::Text(GRAMMAR);
        }
        Some(spec)
    }

    fn accepts(&self, _run: &Running) -> bool {
        true
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(apply_patch(run))
    }
}

async fn apply_patch(run: &Running) -> Finished {
    let text = match &run.call.kind {
        CallKind::Custom(text) => text.clone(),
        _ => match run.arguments::<Arguments>() {
            Ok(arguments) => arguments.input,
            Err(error) => return error.into(),
        },
    };
    apply(run, text, run.scope.cwd.clone()).await
}

/// Treats a command that only applies a patch as the patch it is.
pub(crate) async fn intercept(run: &Running, argv: &[String], cwd: &Path) -> Option<Finished> {
    match detect(argv)? {
        PatchCall::Patch { text, cd } => {
            let directory = cd.map_or_else(|| cwd.to_owned(), |cd| cwd.join(cd));
            if !directory.is_dir() {
                return None;
            }
            Some(apply(run, text, directory).await)
        }
        PatchCall::Bare => Some(
            "apply_patch verification failed: patch detected without explicit call to apply_patch. Rerun as [\"apply_patch\", \"<patch>\"]"
                .into(),
        ),
    }
}

async fn apply(run: &Running, text: String, cwd: std::path::PathBuf) -> Finished {
    let granted = run.agreements().await.grants().all();
    let rules = sandboxing::rules(&run.scope, granted.as_ref());
    // In place: where no thread can be had, a patch must come to its end all the same.
    let prepared = tokio::task::block_in_place(|| {
        check_reading(&text, &cwd, rules.as_ref())?;
        prepare(&text, &cwd).map_err(|error| error.to_string())
    });
    let plan = match prepared {
        Ok(plan) => plan,
        Err(error) => return error.into(),
    };
    let changes: Vec<FileUpdateChange> = plan.changes().iter().map(shown).collect();
    let item = |status| ThreadItem::FileChange {
        id: run.id().to_string(),
        changes: changes.clone(),
        status,
    };
    let files = touched(&plan);
    let rules = sandboxing::rules(&run.scope, None);
    let can_write = |file: &Path| rules.as_ref().is_none_or(|rules| rules.can_write(file));
    let verdict = run.agreements().await.decide(&run.scope, |settings| {
        decide_patch(&files, &cwd, can_write, settings)
    });
    if let PatchVerdict::Refuse(why) = verdict {
        return why.into();
    }
    run.started(item(PatchApplyStatus::InProgress)).await;
    let stopped = match verdict {
        PatchVerdict::Refuse(_) | PatchVerdict::Apply => None,
        PatchVerdict::Stop(file) => Some(file),
        PatchVerdict::Ask(question) => {
            let action = || Action::patch(&cwd, &question.files, &text);
            let (approval, for_session) =
                ask_patch(run, question.reason, plan.changes(), action).await;
            if let Some((status, outcome)) = refused(approval) {
                run.completed(item(status)).await;
                if !outcome.end_turn {
                    report_diff(run).await;
                }
                return outcome;
            }
            if for_session {
                run.agree(move |it| it.approvals_mut().accept_files(question.files))
                    .await;
            }
            None
        }
    };
    let (output, applied) = match stopped {
        Some(file) => (stopped_at(&file), false),
        None => write(run, plan).await,
    };
    run.delta(ToolDelta::PatchOutput(output.clone())).await;
    let status = if applied {
        PatchApplyStatus::Completed
    } else {
        PatchApplyStatus::Failed
    };
    run.completed(item(status)).await;
    report_diff(run).await;
    report(run, &output, applied).into()
}

/// The result as the model reads it.
fn report(run: &Running, output: &str, applied: bool) -> String {
    let code = i32::from(!applied);
    if run.report_style() == ReportStyle::Json {
        return json_report(output, code, 0.0);
    }
    format!("Exit code: {code}\nWall time: 0 seconds\nOutput:\n{output}")
}

/// Refuses a patch of files that commands may not read: whether it matches would tell what is in them.
fn check_reading(text: &str, cwd: &Path, rules: Option<&Rules>) -> Result<(), String> {
    let (Some(rules), Ok(patch)) = (rules, Patch::parse(text)) else {
        return Ok(());
    };
    for operation in &patch.operations {
        let (path, other) = match operation {
            Operation::Add { path, .. } | Operation::Delete { path } => (path, None),
            Operation::Update { path, move_to, .. } => (path, move_to.as_ref()),
        };
        for path in [Some(path), other].into_iter().flatten() {
            let path = cwd.join(path);
            if !rules.can_read(&path) {
                let path = path.display();
                return Err(format!(
                    "apply_patch verification failed: {path} is outside of the directories that may be read"
                ));
            }
        }
    }
    Ok(())
}

/// What is said of a patch that a link would have led out of the writable directories.
fn stopped_at(file: &Path) -> String {
    format!(
        "Failed to write file {}: a link leads to where nothing may be written\nNothing was written.\n",
        file.display()
    )
}

/// How the item and the call end without an approval.
fn refused(approval: Approval) -> Option<(PatchApplyStatus, Finished)> {
    Some(match approval {
        Approval::Granted => return None,
        Approval::Failed => (PatchApplyStatus::Failed, PATCH_REJECTED.into()),
        Approval::Declined => (PatchApplyStatus::Declined, PATCH_REJECTED.into()),
        Approval::Denied(why) => (PatchApplyStatus::Declined, why.into()),
        Approval::Cancelled => (PatchApplyStatus::Declined, Finished::ending(PATCH_REJECTED)),
    })
}

/// Writes the changes; what they were before goes into the diff of the turn.
async fn write(run: &Running, plan: Plan) -> (String, bool) {
    let patches = patches(run).await;
    let mut diff = patches.lock().await;
    let applied = tokio::task::block_in_place(|| {
        let diff = diff.get_or_insert_with(|| TurnDiff::new(&run.scope.cwd));
        diff.track(&plan);
        plan.apply()
    });
    match applied {
        Ok(report) => (report.to_string(), true),
        Err(error) => (error.to_string(), false),
    }
}

async fn report_diff(run: &Running) {
    let patches = patches(run).await;
    let mut diff = patches.lock().await;
    if let Some(diff) = diff.as_mut() {
        let unified = tokio::task::block_in_place(|| diff.unified());
        run.report(ToolEvent::DiffUpdated(unified)).await;
    }
}

async fn patches(run: &Running) -> Patches {
    let turn_id = run.scope.turn_id.clone();
    run.toolbox(move |it| it.patches(&turn_id)).await
}

/// The files that a patch writes or removes, as it calls them and where they are.
fn touched(plan: &Plan) -> Vec<PatchFile> {
    let file = |it: Target<'_>| PatchFile {
        written: it.written.to_owned(),
        path: it.path.to_owned(),
    };
    plan.targets().map(file).collect()
}

fn shown(change: &Change) -> FileUpdateChange {
    let kind = match &change.kind {
        ChangeKind::Add => PatchChangeKind::Add,
        ChangeKind::Delete => PatchChangeKind::Delete,
        ChangeKind::Update { move_to } => PatchChangeKind::Update {
            move_path: move_to
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned()),
        },
    };
    FileUpdateChange {
        path: change.path.to_string_lossy().into_owned(),
        kind,
        diff: change.diff(),
    }
}
