//! `fuzzyFileSearch/sessionStop`: the end of a session. One that is not there is as good as ended.

use quipu_wire::method::request::FuzzyFileSearchSessionStop;
use quipu_wire::{FuzzyFileSearchSessionStopParams, FuzzyFileSearchSessionStopResponse};

use super::Handler;
use crate::search::ended;
use crate::{Cx, Refusal};

impl Handler for FuzzyFileSearchSessionStop {
    async fn run(
        cx: Cx,
        params: FuzzyFileSearchSessionStopParams,
    ) -> Result<Self::Result, Refusal> {
        ended(cx.server.searches.stop(&params.session_id)).await;
        Ok(FuzzyFileSearchSessionStopResponse {})
    }
}
