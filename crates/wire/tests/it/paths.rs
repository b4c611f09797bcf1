//! Absolute paths: what counts as one, and how it is tidied.

use quipu_wire::AbsolutePath;

#[test]
fn paths_are_tidied_without_looking_at_the_disk() {
    for (given, expected) in [
        ("/", "/"),
        ("/a/b", "/a/b"),
        ("/a/./b", "/a/b"),
        ("/a//b/", "/a/b"),
        ("/a/b/../c", "/a/c"),
        ("/../a", "/a"),
        ("/..", "/"),
        ("/a/~/b", "/a/~/b"),
        ("/no/such/link/../x", "/no/such/x"),
        ("/ünï/\u{202e}", "/ünï/\u{202e}"),
    ] {
        let path: AbsolutePath = serde_json::from_value(given.into()).unwrap();
        assert_eq!(path.as_str(), expected, "{given}");
        assert_eq!(serde_json::to_value(&path).unwrap(), expected);
    }
}

#[test]
fn other_texts_are_refused() {
    for given in ["", "a", "./a", "../a", "~", "~/a", "C:\\a", "file:///a"] {
        let error = serde_json::from_value::<AbsolutePath>(given.into()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "AbsolutePathBuf deserialized without a base path"
        );
    }
}
