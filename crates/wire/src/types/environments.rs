//! Environments, in which commands run. The machine of the server, `local`, is the only one.

use quipu_wire_macros::wire;

/// Parameters of `environment/info`.
#[wire(params)]
pub struct EnvironmentInfoParams {
    pub environment_id: String,
}

/// The shell of an environment.
#[wire]
pub struct EnvironmentShellInfo {
    /// Such as `bash`.
    pub name: String,
    pub path: String,
}

/// Result of `environment/info`.
#[wire]
pub struct EnvironmentInfoResponse {
    pub shell: EnvironmentShellInfo,
    /// The working directory of the server, as a `file:` URL.
    pub cwd: Option<String>,
}

/// Parameters of `environment/status`.
#[wire(params)]
pub struct EnvironmentStatusParams {
    pub environment_id: String,
}

/// Whether an environment can be used.
#[wire]
pub enum EnvironmentStatusKind {
    #[wire(apart)]
    Ready,
    #[wire(apart)]
    Pending,
    #[wire(apart)]
    Disconnected,
    #[wire(apart)]
    Unknown,
}

/// Result of `environment/status`.
#[wire]
pub struct EnvironmentStatusResponse {
    pub status: EnvironmentStatusKind,
    /// Why it is unknown or disconnected.
    #[wire(optional)]
    pub error: Option<String>,
}
