//! Arguments: what is accepted where, and how a mistake ends.

use quipu_testkit::client::within;
use quipu_testkit::process::Launch;
use tokio::io::AsyncReadExt as _;

use crate::exec::{Place, text};
use crate::support::{QUIPU, app_server};

/// Runs to the end without input; exit code, standard output and standard error.
async fn run(launch: Launch) -> (i32, String, String) {
    let mut process = launch.start();
    drop(process.stdin.take());
    let mut output = String::new();
    let mut stdout = process.stdout.take().unwrap();
    stdout.read_to_string(&mut output).await.unwrap();
    let status = process.exit().await;
    (status.code().unwrap(), output, process.stderr())
}

#[tokio::test]
async fn the_version_is_reported_in_the_form_each_name_promises() {
    let quipu = format!(
        "quipu {} (app-server protocol 0.166.0)\ncodex-cli 0.166.0\n",
        env!("CARGO_PKG_VERSION")
    );
    for (name, expected) in [
        ("quipu", quipu.as_str()),
        ("codex", "codex-cli 0.166.0\n"),
        ("codex-app-server", "codex-app-server 0.166.0\n"),
    ] {
        for flag in ["--version", "-V"] {
            let (code, output, _) = run(Launch::named(QUIPU, name).args([flag])).await;
            assert_eq!((code, output.as_str()), (0, expected));
        }
    }
}

#[tokio::test]
async fn what_confines_commands_is_reported() {
    let (code, output, error) = run(Launch::new(QUIPU).args(["sandbox"])).await;
    match code {
        0 => assert!(
            output.starts_with("sandbox: namespaces") || output.starts_with("sandbox: Landlock")
        ),
        _ => assert!(
            output.starts_with("sandbox: none") && error.contains("cannot be enforced here")
        ),
    }
    assert!(output.contains("seccomp: "), "{output}");
}

#[tokio::test]
async fn help_names_the_options_that_clients_look_for() {
    let (code, output, _) = run(app_server(["--help"])).await;
    assert_eq!(code, 0);
    for option in [
        "--listen",
        "--config",
        "--enable",
        "--disable",
        "--ws-auth",
        "--ws-token-file",
        "--ws-shared-secret-file",
        "--ws-issuer",
        "--ws-audience",
        "--ws-max-clock-skew-seconds",
        "--ws-allow-origin",
        "--analytics-default-enabled",
        "generate-ts",
        "generate-json-schema",
    ] {
        assert!(output.contains(option), "{option} is not in\n{output}");
    }
}

#[tokio::test]
async fn a_link_makes_it_the_program_it_is_named_after() {
    for (name, args) in [
        ("codex", &["app-server"][..]),
        ("codex", &["app-server", "--listen", "stdio://"]),
        ("codex-app-server", &[]),
        (
            "codex-app-server",
            &["--listen", "stdio://", "-c", "model=m"],
        ),
    ] {
        let (code, output, stderr) =
            run(Launch::named(QUIPU, name).args(args.iter().copied())).await;
        assert_eq!(
            (code, output.as_str(), stderr.as_str()),
            (0, "", ""),
            "{name} {args:?}"
        );
    }
}

#[tokio::test]
async fn the_version_is_a_command_too() {
    let flag = run(Launch::new(QUIPU).args(["--version"])).await;
    assert_eq!(run(Launch::new(QUIPU).args(["version"])).await, flag);
    assert!(flag.1.starts_with("quipu "), "{flag:?}");
}

#[tokio::test]
async fn what_clients_pass_is_accepted() {
    for args in [
        "-c model=x app-server",
        "--config shell_environment_policy.inherit=all --config model=\"m\" app-server",
        "app-server -c web_search=\"live\"",
        "app-server --enable guardian_approval -c model=m",
        "--disable undo app-server --analytics-default-enabled",
        "app-server --listen stdio:// -c a.b.C=\"x\"",
    ] {
        let (code, output, stderr) = run(Launch::new(QUIPU).args(args.split(' '))).await;
        assert_eq!(
            (code, output.as_str(), stderr.as_str()),
            (0, "", ""),
            "{args}"
        );
    }
}

#[tokio::test]
async fn mistakes_end_with_the_official_codes_and_texts() {
    let expected_listen = "expected `stdio://`, `ws://IP:PORT`, `unix://PATH` or `off`";
    for (args, code, text) in [
        ("app-server --listen foo", 2, expected_listen),
        ("app-server --listen stdio", 2, expected_listen),
        (
            "app-server --listen ws://example.com:1",
            2,
            "invalid websocket --listen URL `ws://example.com:1`; expected `ws://IP:PORT`",
        ),
        (
            "app-server --listen off --listen ws://localhost:0",
            1,
            "Error: `--listen off` goes with no other `--listen`\n",
        ),
        (
            "app-server --listen stdio:// --listen stdio://",
            1,
            "Error: `--listen stdio://` can be given once",
        ),
        (
            "app-server --listen wss://localhost:0",
            1,
            "Error: wss://127.0.0.1:0 needs a certificate: give `--tls-cert PATH` and `--tls-key PATH`\n",
        ),
        (
            "app-server --listen ws://localhost:0 --tls-cert c --tls-key k",
            1,
            "Error: `--tls-cert` needs `--listen wss://IP:PORT`: it protects nothing else\n",
        ),
        (
            "app-server --listen wss://localhost:0 --tls-cert /no/cert --tls-key k",
            1,
            "Error: cannot read /no/cert: ",
        ),
        ("app-server --tls-cert c", 2, "--tls-key <PATH>"),
        (
            "app-server --ws-auth nope",
            2,
            "[possible values: capability-token, signed-bearer-token]",
        ),
        (
            "app-server --bogus",
            2,
            "unexpected argument '--bogus' found",
        ),
        (
            "app-server --version",
            2,
            "unexpected argument '--version' found",
        ),
        ("app-server generate-json-schema", 2, "--out <DIR>"),
        (
            "app-server --enable nope",
            1,
            "Error: Unknown feature flag: nope; there are: ",
        ),
        (
            "--disable nope app-server",
            1,
            "Error: Unknown feature flag: nope; there are: ",
        ),
        (
            "-c x app-server",
            1,
            "Error: error parsing -c overrides: Invalid override (missing '='): x\n",
        ),
        (
            "app-server -c =x",
            1,
            "Error: error parsing -c overrides: Empty key in override: =x\n",
        ),
        // A flag before the subcommand counts beside those after it.
        (
            "-c model=5 app-server -c web_search=live",
            1,
            "expected a string",
        ),
        (
            "-c web_search=live app-server -c model=5",
            1,
            "expected a string",
        ),
        (
            "app-server --ws-auth capability-token",
            1,
            "Error: `--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set\n",
        ),
        (
            "app-server --ws-auth signed-bearer-token",
            1,
            "Error: `--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set\n",
        ),
        (
            "app-server --ws-auth signed-bearer-token --ws-token-file f",
            1,
            "Error: `--ws-token-file` requires `--ws-auth capability-token`, not `signed-bearer-token`\n",
        ),
        (
            "app-server --ws-auth capability-token --ws-issuer me",
            1,
            "Error: `--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` require `--ws-auth signed-bearer-token`\n",
        ),
        (
            "app-server --ws-auth capability-token --ws-token-file f",
            1,
            "Error: `--ws-auth` needs `--listen ws://IP:PORT`: it protects nothing else\n",
        ),
        (
            "app-server --listen unix://s --ws-auth signed-bearer-token --ws-shared-secret-file f",
            1,
            "Error: `--ws-auth` needs `--listen ws://IP:PORT`: it protects nothing else\n",
        ),
        (
            "app-server --ws-allow-origin http://localhost",
            1,
            "Error: `--ws-allow-origin` needs `--listen ws://IP:PORT`\n",
        ),
        ("app-server --ws-allow-origin *", 2, "`*` is not an origin"),
        (
            "app-server --ws-token-file f",
            1,
            "Error: websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`\n",
        ),
        (
            "app-server --listen ws://0.0.0.0:0",
            1,
            "--ws-auth capability-token --ws-token-file PATH",
        ),
        (
            "app-server --listen ws://[::]:0",
            1,
            "refusing to listen on [::]:0 without authentication",
        ),
        (
            "app-server --listen unix:///no/such/directory/socket",
            1,
            "Error: cannot listen on unix:///no/such",
        ),
    ] {
        let (found, output, stderr) = run(Launch::new(QUIPU).args(args.split(' '))).await;
        assert_eq!((found, output.as_str()), (code, ""), "{args}: {stderr}");
        assert!(stderr.contains(text), "{args}: {stderr}");
    }
}

#[tokio::test]
async fn the_announced_version_is_checked_and_shown() {
    let place = Place::new();
    let file = place.directory.path().join(".quipu/config.toml");
    let announce = |version: &str| {
        let text = format!("model_provider = \"offline\"\nannounced_version = \"{version}\"\n");
        std::fs::write(&file, text).unwrap();
    };
    announce("newest");
    let output = place.run(&["hi"]).await;
    let why = "warning: `announced_version` is `newest`, which is not three numbers";
    assert!(text(&output.stderr).contains(why), "{output:?}");
    announce("0.118.0");
    for args in [["version"], ["--version"], ["-V"]] {
        let mut command = place.quipu(&args);
        let output = within("its end", command.output()).await.unwrap();
        let printed = text(&output.stdout);
        assert!(printed.ends_with("\ncodex-cli 0.118.0\n"), "{printed}");
    }
}
