//! `windowsSandbox/readiness`: only Linux has a sandbox yet.

use quipu_wire::method::NoParams;
use quipu_wire::method::request::WindowsSandboxReadiness;
use quipu_wire::{WindowsSandboxReadiness as Readiness, WindowsSandboxReadinessResponse};

use super::Handler;
use crate::{Cx, Refusal};

impl Handler for WindowsSandboxReadiness {
    async fn run(_cx: Cx, _params: NoParams) -> Result<Self::Result, Refusal> {
        let status = Readiness::NotConfigured;
        Ok(WindowsSandboxReadinessResponse { status })
    }
}
