//! `fuzzyFileSearch`: files by a few letters of their path, once.

use quipu_wire::method::request::FuzzyFileSearch;
use quipu_wire::{FuzzyFileSearchParams, FuzzyFileSearchResponse};

use super::Handler;
use crate::search::Roots;
use crate::{Cx, Refusal};

impl Handler for FuzzyFileSearch {
    async fn run(cx: Cx, params: FuzzyFileSearchParams) -> Result<Self::Result, Refusal> {
        let roots = Roots::new(params.roots, cx.server.cwd());
        let token = params.cancellation_token.map(|token| (cx.client.id, token));
        let searches = &cx.server.searches;
        let files = tokio::select! {
            files = searches.search(roots, &params.query, token) => files,
            () = cx.client.left() => Vec::new(),
        };
        Ok(FuzzyFileSearchResponse { files })
    }
}
