//! `view_image`: the agent looks at an image.

use std::fmt::Display;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use quipu_prompt::image::{self, MAX_IMAGE_BYTES};
use quipu_sandbox::Rules;
use quipu_wire::{AbsolutePath, ThreadItem};
use serde::Deserialize;
use serde_json::json;

use crate::call::{Finished, Output, Running};
use crate::sandboxing;
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::{Parallel, Reach, Tool};

#[derive(Deserialize)]
struct Arguments {
    path: String,
    detail: Option<String>,
}

// `detail` is understood and has one value, so that it need not be offered.
describe!(Arguments {
    required { path: "The file." }
    optional {}
});

pub(crate) struct ViewImage;

impl Tool for ViewImage {
    fn name(&self) -> &'static str {
        "view_image"
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn reach(&self) -> Reach {
        Reach::Machine
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let description = "Looks at an image in the file system.";
        let offered = scope.features.view_image;
        offered.then(|| Spec::function::<Arguments>(self.name(), description))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        Box::pin(view_image(run))
    }
}

async fn view_image(run: &Running) -> Finished {
    if !run.scope.accepts_images {
        return "view_image is not allowed because you do not support image inputs".into();
    }
    let Arguments { path, detail } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    if let Some(other) = detail.filter(|detail| detail != "original") {
        return format!(
            "view_image.detail only supports `original`; omit `detail` for default resized behavior, got `{other}`"
        )
        .into();
    }
    let path = run.scope.resolve(Some(&path));
    let path = AbsolutePath::new(&path).map_or(path, |it| it.as_path().to_owned());
    let granted = run.agreements().await.grants().all();
    let rules = sandboxing::rules(&run.scope, granted.as_ref());
    let read = tokio::task::block_in_place(|| read(&path, rules.as_ref()));
    let image_url = match read {
        Ok(url) => url,
        Err(why) => return why.into(),
    };
    let item = ThreadItem::ImageView {
        id: run.id().to_string(),
        path: path.to_string_lossy().into_owned(),
    };
    run.started(item.clone()).await;
    run.completed(item).await;
    let part = json!({ "type": "input_image", "image_url": image_url });
    Output::Parts(vec![part]).into()
}

/// The data URL of an image that commands may read too. What is judged is the file that was opened: a command
/// may put something else at the path meanwhile.
fn read(path: &Path, rules: Option<&Rules>) -> Result<String, String> {
    let shown = path.display();
    let unlocated = |why: &dyn Display| format!("unable to locate image at `{shown}`: {why}");
    let unusable = |why: &dyn Display| format!("unable to process image at `{shown}`: {why}");
    let can_read = |path: &Path| rules.is_none_or(|rules| rules.can_read(path));
    let hidden = || unlocated(&"it is outside of the directories that may be read");
    if !can_read(path) {
        return Err(hidden());
    }
    let file = quipu_disk::open(path).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory | ErrorKind::Other => format!("image path `{shown}` is not a file"),
        ErrorKind::PermissionDenied => unusable(&error),
        _ => unlocated(&error),
    })?;
    if !can_read(&place_of(&file, path)) {
        return Err(hidden());
    }
    let mut bytes = Vec::new();
    let mut limited = file.take(MAX_IMAGE_BYTES + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(|error| unusable(&error))?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(unusable(&format_args!(
            "it is larger than {MAX_IMAGE_BYTES} bytes"
        )));
    }
    image::data_url(path, &bytes).map_err(|error| unusable(&error))
}

/// A path that leads to an open file, wherever the path it was opened at leads by now.
#[cfg(target_os = "linux")]
fn place_of(file: &File, _path: &Path) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(not(target_os = "linux"))]
fn place_of(_file: &File, path: &Path) -> PathBuf {
    path.to_owned()
}
