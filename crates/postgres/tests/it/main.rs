//! Tests of threads in PostgreSQL, with a real server that each run starts for itself. The journal's own tests of lists
//! run here, too, on homes that are imported first.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "../../../journal/tests/it/beside.rs"]
mod beside;
mod faults;
#[path = "../../../journal/tests/it/support.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod journal;
mod lease;
mod ledger;
#[path = "../../../journal/tests/it/list.rs"]
mod list;
mod scale;
mod store;
mod support;
mod transfer;

use quipu_testkit::cluster;
