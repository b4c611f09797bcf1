//! What a browser may do with the page, whatever a model or a file says.

/// Scripts, styles and connections of this origin only; images that the page itself has. Trusted types forbid every
/// way to make markup out of text.
const PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     connect-src 'self'; manifest-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of every answer.
pub(crate) fn headers(kind: &str) -> Vec<(&'static str, String)> {
    [
        ("content-type", kind),
        ("content-security-policy", PAGE),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), geolocation=(), microphone=()",
        ),
        ("cache-control", "no-store"),
    ]
    .into_iter()
    .map(|(name, value)| (name, value.to_owned()))
    .collect()
}
