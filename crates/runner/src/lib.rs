//! Unattended sessions with an app-server ([`session`]), and a service that works through a tracker with
//! them.

#![deny(missing_docs)]

pub mod session;
