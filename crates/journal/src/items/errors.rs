//! Kinds of failure.

use quipu_wire::{CodexErrorInfo, NonSteerableTurnKind};

use crate::event::{ErrorInfo, TurnKind};

impl From<ErrorInfo> for CodexErrorInfo {
    fn from(info: ErrorInfo) -> Self {
        match info {
            ErrorInfo::ContextWindowExceeded => Self::ContextWindowExceeded,
            ErrorInfo::UsageLimitExceeded => Self::UsageLimitExceeded,
            ErrorInfo::ServerOverloaded => Self::ServerOverloaded,
            ErrorInfo::InternalServerError => Self::InternalServerError,
            ErrorInfo::Unauthorized => Self::Unauthorized,
            ErrorInfo::BadRequest => Self::BadRequest,
            ErrorInfo::SandboxError => Self::SandboxError,
            ErrorInfo::ThreadRollbackFailed => Self::ThreadRollbackFailed,
            ErrorInfo::Other => Self::Other,
            ErrorInfo::HttpConnectionFailed { http_status_code } => {
                Self::HttpConnectionFailed { http_status_code }
            }
            ErrorInfo::ResponseStreamConnectionFailed { http_status_code } => {
                Self::ResponseStreamConnectionFailed { http_status_code }
            }
            ErrorInfo::ResponseStreamDisconnected { http_status_code } => {
                Self::ResponseStreamDisconnected { http_status_code }
            }
            ErrorInfo::ResponseTooManyFailedAttempts { http_status_code } => {
                Self::ResponseTooManyFailedAttempts { http_status_code }
            }
            ErrorInfo::ActiveTurnNotSteerable { turn_kind } => Self::ActiveTurnNotSteerable {
                turn_kind: match turn_kind {
                    TurnKind::Review => NonSteerableTurnKind::Review,
                    TurnKind::Compact => NonSteerableTurnKind::Compact,
                },
            },
        }
    }
}

impl From<CodexErrorInfo> for ErrorInfo {
    fn from(info: CodexErrorInfo) -> Self {
        match info {
            CodexErrorInfo::ContextWindowExceeded => Self::ContextWindowExceeded,
            CodexErrorInfo::UsageLimitExceeded => Self::UsageLimitExceeded,
            CodexErrorInfo::ServerOverloaded => Self::ServerOverloaded,
            CodexErrorInfo::InternalServerError => Self::InternalServerError,
            CodexErrorInfo::Unauthorized => Self::Unauthorized,
            CodexErrorInfo::BadRequest => Self::BadRequest,
            CodexErrorInfo::SandboxError => Self::SandboxError,
            CodexErrorInfo::ThreadRollbackFailed => Self::ThreadRollbackFailed,
            CodexErrorInfo::HttpConnectionFailed { http_status_code } => {
                Self::HttpConnectionFailed { http_status_code }
            }
            CodexErrorInfo::ResponseStreamConnectionFailed { http_status_code } => {
                Self::ResponseStreamConnectionFailed { http_status_code }
            }
            CodexErrorInfo::ResponseStreamDisconnected { http_status_code } => {
                Self::ResponseStreamDisconnected { http_status_code }
            }
            CodexErrorInfo::ResponseTooManyFailedAttempts { http_status_code } => {
                Self::ResponseTooManyFailedAttempts { http_status_code }
            }
            CodexErrorInfo::ActiveTurnNotSteerable { turn_kind } => Self::ActiveTurnNotSteerable {
                turn_kind: match turn_kind {
                    NonSteerableTurnKind::Compact => TurnKind::Compact,
                    _ => TurnKind::Review,
                },
            },
            _ => Self::Other,
        }
    }
}
