//! The files of the page, as they were bundled.

/// A file: its path, its type and its text.
pub(crate) type Asset = (&'static str, &'static str, &'static str);

pub(crate) const ASSETS: &[Asset] = &[
    (
        "/",
        "text/html; charset=utf-8",
        include_str!("../assets/index.html"),
    ),
    (
        "/console.js",
        "text/javascript; charset=utf-8",
        include_str!("../assets/console.js"),
    ),
    (
        "/console.css",
        "text/css; charset=utf-8",
        include_str!("../assets/console.css"),
    ),
    (
        "/icon.svg",
        "image/svg+xml",
        include_str!("../assets/icon.svg"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_have_a_megabyte_at_most() {
        let size: usize = ASSETS.iter().map(|(_, _, text)| text.len()).sum();
        assert!(size <= 1 << 20, "{size} bytes");
    }

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let (_, _, page) = ASSETS[0];
        assert!(!page.contains("://"), "{page}");
    }
}
