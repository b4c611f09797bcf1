//! What must hold for any bytes taken as a file and a patch. The fuzz target `patch` and a plain
//! test both run this.

use quipu_patch::{Operation, Patch, detect, rewrite};

/// Takes what stands before the first zero byte as a file and the rest as a patch; panics if a law
/// is broken.
pub fn check(data: &[u8]) {
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
