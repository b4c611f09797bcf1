//! `quipu logout`: forgets the stored login.

use super::account::Desk;
use crate::args::ConfigArgs;

pub fn run(config: &[&ConfigArgs]) -> Result<(), String> {
    let desk = Desk::open(config)?;
    let out = desk.accounts.log_out();
    match out.map_err(|error| format!("logout failed: {error}"))? {
        true => eprintln!("Successfully logged out"),
        false => eprintln!("Not logged in"),
    }
    Ok(())
}
