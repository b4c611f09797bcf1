//! `server/diagnostics`: the state of the server's process.

use quipu_wire::method::request::ServerDiagnostics;
use quipu_wire::{
    ServerDiagnosticsGauge, ServerDiagnosticsParams, ServerDiagnosticsProcess,
    ServerDiagnosticsResponse,
};

use super::Handler;
use crate::{Cx, Refusal, metrics};

impl Handler for ServerDiagnostics {
    async fn run(cx: Cx, _params: ServerDiagnosticsParams) -> Result<Self::Result, Refusal> {
        let gauges = [
            ("app.connections", cx.server.hub.count()),
            ("app.threads.loaded", cx.server.threads.count()),
        ];
        let gauges = gauges.map(|(name, value)| ServerDiagnosticsGauge {
            name: name.to_owned(),
            value: value as u64,
        });
        let resident = metrics::resident() as u64;
        Ok(ServerDiagnosticsResponse {
            process: ServerDiagnosticsProcess {
                id: std::process::id(),
                resident_memory_bytes: (resident > 0).then_some(resident),
                physical_footprint_bytes: None,
            },
            gauges: gauges.into(),
        })
    }
}
