//! The HTTP client of servers and logins. It honours the proxy variables and follows redirects only within
//! one origin: a token must not travel to an address nobody configured.

use std::path::Path;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Url};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 5;

pub(crate) fn build(certificates: Option<&Path>) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .redirect(Policy::custom(|attempt| {
            let first = attempt.previous().first().map(Url::origin);
            let same = first.is_some_and(|first| first == attempt.url().origin());
            if same && attempt.previous().len() <= MAX_REDIRECTS {
                attempt.follow()
            } else {
                attempt.stop()
            }
        }))
        .connect_timeout(CONNECT_TIMEOUT);
    if let Some(path) = certificates {
        let failed = |why: String| {
            let path = path.display();
            format!("could not load the certificate authorities from {path}: {why}")
        };
        let pem = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let found = Certificate::from_pem_bundle(&pem)
            .map_err(|error| failed(error.without_url().to_string()))?;
        for certificate in found {
            builder = builder.add_root_certificate(certificate);
        }
    }
    builder
        .build()
        .map_err(|error| format!("could not set up HTTP: {}", error.without_url()))
}

/// What went wrong, without the query of the address, which may hold a key.
pub(crate) fn explain(error: &reqwest::Error, url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // An address without a host has no user either.
    shown.set_username("").ok();
    shown.set_password(None).ok();
    let mut text = format!("error sending request for url ({shown})");
    let mut cause = std::error::Error::source(error);
    // The innermost reason: the outer ones only repeat that a request failed.
    while let Some(inner) = cause {
        cause = inner.source();
        if cause.is_none() {
            text = format!("{text}: {inner}");
        }
    }
    text
}
