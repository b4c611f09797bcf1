//! The body of the fuzz target `patch`, kept here so that the tests run it over the corpus too.

use crate::{Operation, Patch, detect, rewrite};

/// Takes any bytes as a file, a zero byte and a patch. Nothing may panic, and what comes out must be well formed.
pub fn patch(data: &[u8]) {
    let split = data.iter().position(|&byte| byte == 0).unwrap_or(0);
    let (content, text) = data.split_at(split);
    let content = String::from_utf8_lossy(content);
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start_matches('\0');
    detect(&["bash".to_owned(), "-lc".to_owned(), text.to_owned()]);
    let Ok(patch) = Patch::parse(text) else {
        return;
    };
    for operation in &patch.operations {
        if let Operation::Update { hunks, .. } = operation
            && let Ok(new) = rewrite(&content, hunks)
        {
            assert!(new.is_empty() || new.ends_with('\n'), "{new:?}");
        }
    }
}
