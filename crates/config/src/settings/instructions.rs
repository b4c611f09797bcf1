//! Texts given to the model besides the user's.

use std::path::{Path, PathBuf};

use crate::files::Files;
use crate::load::LoadError;
use crate::snapshot::View;

/// Texts given to the model besides the user's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The base instructions, when a file replaces the built-in ones.
    pub base: Option<String>,
    /// Developer instructions.
    pub developer: Option<String>,
    /// What asks for a summary when the history is compacted.
    pub compact_prompt: Option<String>,
    /// Co-author line in commits.
    pub commit_attribution: Option<String>,
}

impl Instructions {
    pub(crate) fn read(view: &View<'_>, files: &mut Files) -> Result<Self, LoadError> {
        let base = text(
            view,
            files,
            "model_instructions_file",
            "model instructions file",
        )?;
        let prompt_file = text(
            view,
            files,
            "experimental_compact_prompt_file",
            "experimental compact prompt file",
        )?;
        let prompt: Option<String> = view.get("compact_prompt");
        let prompt = prompt.filter(|prompt| !prompt.trim().is_empty());
        Ok(Self {
            base,
            developer: view.get("developer_instructions"),
            compact_prompt: prompt.or(prompt_file),
            commit_attribution: view.get("commit_attribution"),
        })
    }
}

/// The text of the file a setting names.
fn text(
    view: &View<'_>,
    files: &mut Files,
    key: &str,
    what: &str,
) -> Result<Option<String>, LoadError> {
    let Some(path) = view.get::<PathBuf>(key) else {
        return Ok(None);
    };
    let text = match files.read(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return Err(unreadable(what, &path, super::MISSING_FILE)),
        Err(error) => return Err(unreadable(what, &path, &error.to_string())),
    };
    match text.trim() {
        "" => Err(LoadError::Invalid(format!(
            "{what} is empty: {}",
            path.display()
        ))),
        text => Ok(Some(text.to_owned())),
    }
}

fn unreadable(what: &str, path: &Path, reason: &str) -> LoadError {
    LoadError::Invalid(format!(
        "failed to read {what} {}: {reason}",
        path.display()
    ))
}
