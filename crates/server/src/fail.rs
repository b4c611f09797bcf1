//! Places where a test can make the server fail by a defect of its own. Builds for release have none.

/// Panics if a test armed this place: if the file that `QUIPU_FAIL_POINTS` names has the line `kind name`.
#[cfg(debug_assertions)]
pub(crate) fn point(kind: &str, name: &str) {
    use std::path::PathBuf;
    use std::sync::LazyLock;

    static FILE: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("QUIPU_FAIL_POINTS").map(PathBuf::from));
    let Some(armed) = FILE
        .as_ref()
        .and_then(|it| std::fs::read_to_string(it).ok())
    else {
        return;
    };
    let place = format!("{kind} {name}");
    assert!(
        !armed.lines().any(|line| line == place),
        "fail point {place}"
    );
}

#[cfg(not(debug_assertions))]
pub(crate) fn point(_kind: &str, _name: &str) {}
