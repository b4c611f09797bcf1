//! Setting up the sandbox on Windows.

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// With which rights the sandbox is set up.
#[wire]
pub enum WindowsSandboxSetupMode {
    /// Those of an administrator.
    Elevated,
    /// Those of the user.
    Unelevated,
}

/// Parameters of `windowsSandbox/setupStart`.
#[wire(params)]
pub struct WindowsSandboxSetupStartParams {
    pub mode: WindowsSandboxSetupMode,
    /// The workspace to set it up for.
    pub cwd: Option<AbsolutePath>,
}

/// Result of `windowsSandbox/setupStart`.
#[wire]
pub struct WindowsSandboxSetupStartResponse {
    /// True; `windowsSandbox/setupCompleted` reports how it went.
    pub started: bool,
}

/// Parameters of the notification `windows/worldWritableWarning`: everybody can write to some
/// directories, which the sandbox cannot protect.
#[wire]
pub struct WindowsWorldWritableWarningNotification {
    /// Some of them.
    pub sample_paths: Vec<String>,
    /// How many there are besides.
    pub extra_count: usize,
    /// Whether the search for them did not get to its end.
    pub failed_scan: bool,
}

/// Parameters of the notification `windowsSandbox/setupCompleted`.
#[wire]
pub struct WindowsSandboxSetupCompletedNotification {
    pub mode: WindowsSandboxSetupMode,
    pub success: bool,
    /// Why it failed; null on success.
    pub error: Option<String>,
}

/// Whether the sandbox on Windows can be used.
#[wire]
pub enum WindowsSandboxReadiness {
    Ready,
    /// There is none.
    NotConfigured,
    UpdateRequired,
}

/// Result of `windowsSandbox/readiness`.
#[wire]
pub struct WindowsSandboxReadinessResponse {
    /// Always `notConfigured`.
    pub status: WindowsSandboxReadiness,
}
