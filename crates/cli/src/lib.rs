//! Command line and terminal; the binary quipu. A library, so that a test can run the same program with
//! faults of its own making.

mod args;
mod banner;
mod cmd;
mod config_args;
mod demo;
mod doctor;
mod eval;
mod exec;
mod frontend;
mod heap;
mod lazy;
mod logging;
mod runner;
mod runtime;
mod session;
mod threads;
mod version;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use args::{Args, Command};
use lazy::Lazy;

/// The program.
pub fn main() -> ExitCode {
    // Commands are started by a copy of this program, which does that and nothing else.
    quipu_embed::init();
    let name = version::ProgramName::of_this_process();
    let version = &*name.version().leak();
    let command = || {
        Args::command()
            .name(name.as_str())
            .version(version)
            .mut_subcommand("exec", |exec| exec.version(version))
    };
    let matches = command().try_get_matches_from(name.arguments());
    let args = matches.and_then(|it| Args::from_arg_matches(&it));
    let args = match args {
        Ok(args) => args,
        Err(mistake) if mistake.use_stderr() && logging::is_json() => {
            logging::failed(&mistake.to_string());
            return ExitCode::from(2);
        }
        Err(other) => other.exit(),
    };
    let Some(chosen) = args.command else {
        return cmd::chat::run_alone(args.chat, &args.config, command());
    };
    if !args.chat.is_empty() && !matches!(chosen, Command::Chat(_)) {
        logging::failed("options before a command are for the chat; give them after the command");
        return ExitCode::from(2);
    }
    let done = match chosen {
        Command::Chat(Lazy(chat)) => cmd::chat::run(chat, args.chat, &args.config),
        Command::Acp(Lazy(acp)) => cmd::acp::run(acp, &args.config),
        Command::AppServer(Lazy(server)) => {
            cmd::app_server::run(*server, &args.config).map(|()| ExitCode::SUCCESS)
        }
        Command::Console(Lazy(console)) => cmd::console::run(console, &args.config),
        Command::Exec(Lazy(run)) => exec::run(*run, &args.config),
        Command::Eval(Lazy(run)) => eval::run(run, &args.config),
        Command::Demo => demo::run(),
        Command::McpServer(Lazy(server)) => cmd::mcp_server::run(server, &args.config),
        Command::Runner(Lazy(runner)) => runner::run(*runner, &args.config),
        Command::Login(Lazy(login)) => {
            cmd::login::run(login, &args.config).map(|()| ExitCode::SUCCESS)
        }
        Command::Logout { config } => {
            cmd::logout::run(&[&args.config, &config]).map(|()| ExitCode::SUCCESS)
        }
        Command::Sandbox(Lazy(sandbox)) => cmd::sandbox::run(sandbox, &args.config),
        Command::Init(Lazy(init)) => cmd::init::run(init, &args.config),
        Command::Providers(Lazy(providers)) => cmd::providers::run(providers, &args.config),
        Command::Models(Lazy(models)) => cmd::models::run(models, &args.config),
        Command::Threads(Lazy(command)) => threads::run(*command, &args.config),
        Command::Config(Lazy(command)) => cmd::config::run(command, &args.config),
        Command::Mcp(Lazy(command)) => cmd::mcp::run(command, &args.config),
        Command::Usage(Lazy(usage)) => cmd::usage::run(usage, &args.config),
        Command::Store(Lazy(command)) => cmd::store::run(command, &args.config),
        Command::Doctor(Lazy(doctor)) => doctor::run(doctor, &args.config),
        Command::Completions { shell } => cmd::completions::completions(command(), shell),
        Command::Man { out } => cmd::completions::man(command(), &out),
        Command::Version => cmd::print::lines([format!("{} {version}", name.as_str())]),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            logging::failed(&error);
            ExitCode::FAILURE
        }
    }
}
