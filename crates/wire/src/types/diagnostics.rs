//! What the server says of its own state.

use quipu_wire_macros::wire;

/// Parameters of `server/diagnostics`.
#[wire(params, default)]
pub struct ServerDiagnosticsParams {}

/// The process of the server.
#[wire]
pub struct ServerDiagnosticsProcess {
    pub id: u32,
    /// Null where it is not known.
    pub resident_memory_bytes: Option<u64>,
    /// Always null.
    pub physical_footprint_bytes: Option<u64>,
}

/// A number that is true now.
#[wire]
pub struct ServerDiagnosticsGauge {
    pub name: String,
    pub value: u64,
}

/// Result of `server/diagnostics`.
#[wire]
pub struct ServerDiagnosticsResponse {
    pub process: ServerDiagnosticsProcess,
    pub gauges: Vec<ServerDiagnosticsGauge>,
}
