//! MODDOC

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// DOC
#[wire]
pub enum WindowsSandboxSetupMode {
    Elevated,
    Unelevated,
}

/// Parameters of `windowsSandbox/setupStart`.
#[wire(params)]
pub struct WindowsSandboxSetupStartParams {
    pub mode: WindowsSandboxSetupMode,
    pub cwd: Option<AbsolutePath>,
}

/// Result of `windowsSandbox/setupStart`.
#[wire]
pub struct WindowsSandboxSetupStartResponse {
    pub started: bool,
}

/// Parameters of the notification `windows/worldWritableWarning`.
#[wire]
pub struct WindowsWorldWritableWarningNotification {
    pub sample_paths: Vec<String>,
    pub extra_count: usize,
    pub failed_scan: bool,
}

/// Parameters of the notification `windowsSandbox/setupCompleted`.
#[wire]
pub struct WindowsSandboxSetupCompletedNotification {
    pub mode: WindowsSandboxSetupMode,
    pub success: bool,
    pub error: Option<String>,
}
