//! Sockets that a process is given at its start, where the system has no such custom.

use std::net::{SocketAddr, TcpListener};

use quipu_config::Env;

use super::ListenError;

/// None.
pub(super) struct Inherited;

impl Inherited {
    pub fn take(_: &Env) -> Inherited {
        Inherited
    }

    pub fn tcp(&mut self, _: SocketAddr) -> Option<TcpListener> {
        None
    }

    pub fn finish(self) -> Result<(), ListenError> {
        Ok(())
    }
}
