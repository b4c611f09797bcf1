//! Tests of the program as a process: its arguments, its listeners, its ends.
#![allow(clippy::unwrap_used, reason = "tests")]

mod agents;
mod arguments;
mod auth;
mod client;
mod costs;
#[cfg(debug_assertions)]
mod defects;
mod demo;
mod exec;
mod exec_failures;
mod exec_flags;
mod exec_terminal;
mod full_disk;
mod hidden;
mod home;
mod http;
mod init;
mod interop;
mod large_files;
mod limits;
mod linked_folders;
mod login;
mod logs;
mod manual;
mod newcomers;
mod offline;
mod patch_program;
mod processes;
mod providers;
mod proxies;
mod sandbox;
mod sdk;
mod secrets;
mod shared_home;
mod shutdown;
mod slow_clients;
mod stdio;
mod streaming;
mod support;
mod system_faults;
mod threads;
mod token_secrets;
mod unix;
mod watches;
mod websocket;
