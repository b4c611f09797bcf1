//! Tests of the program as a process: its arguments, its listeners, its ends.
#![allow(clippy::unwrap_used, reason = "tests")]

mod adapter;
mod adapter_kills;
mod agents;
mod arguments;
mod auth;
mod chat;
mod client;
mod console;
mod control_socket;
mod costs;
#[cfg(debug_assertions)]
mod defects;
mod demo;
mod evaluations;
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
mod keyring;
mod kills;
mod large_files;
mod limits;
mod linked_directories;
mod listeners;
mod login;
mod logs;
mod manual;
mod metrics;
mod newcomers;
mod node_clients;
mod numbered;
mod offline;
mod otel;
mod patch_program;
mod processes;
mod providers;
mod proxies;
mod runner;
mod sandbox;
mod sdk;
mod secrets;
mod shared_home;
mod shutdown;
mod slow_clients;
mod stdio;
#[cfg(unix)]
mod store;
#[cfg(unix)]
mod store_checker;
#[cfg(unix)]
mod store_clients;
#[cfg(unix)]
mod store_continue;
#[cfg(unix)]
mod store_faults;
#[cfg(unix)]
mod store_nodes;
#[cfg(unix)]
mod store_run;
#[cfg(unix)]
mod store_takeover;
mod streaming;
mod support;
mod system_faults;
mod threads;
mod tls;
mod token_secrets;
mod unix;
mod upkeep;
mod watches;
mod websocket;
