//! The script that comes with the skill for installing skills, on real directories and a real repository.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use quipu_extend::skills;

#[expect(
    clippy::disallowed_methods,
    reason = "a script is tested by running it"
)]
fn run(program: &str, args: &[&str], cwd: &Path) -> Output {
    Command::new(program)
        .args(args)
        .current_dir(cwd)
        .env_remove("CODEX_HOME")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn skills_are_listed_installed_and_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    skills::install_bundled(&home).unwrap();
    let script = home.join("skills/.system/skill-installer/scripts/install.sh");
    let install = |args: &[&str]| {
        let args: Vec<&str> = [script.to_str().unwrap()]
            .iter()
            .chain(args)
            .copied()
            .collect();
        run("sh", &args, directory.path())
    };
    let source = directory.path().join("source");
    fs::create_dir_all(source.join("tools/greet/scripts")).unwrap();
    let manifest = source.join("tools/greet/SKILL.md");
    fs::write(&manifest, "---\nname: greet\ndescription: Say hello\n---\n").unwrap();
    fs::write(source.join("tools/greet/scripts/hi.sh"), "echo hi\n").unwrap();
    for args in [
        &["init", "--quiet"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "commit",
            "--quiet",
            "-m",
            "x",
        ],
    ] {
        let done = run("git", args, &source);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    let url = format!("file://{}", source.display());
    for source in [source.to_str().unwrap(), &url] {
        let listed = install(&["--list", source]);
        assert_eq!(
            text(&listed.stdout),
            "tools/greet: Say hello\n",
            "{}",
            text(&listed.stderr)
        );
    }

    let installed = home.join("skills/greet");
    let done = install(&[&url, "tools/greet"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(
        text(&done.stdout),
        format!("installed {}\n", installed.display())
    );
    assert_eq!(
        fs::read_to_string(installed.join("scripts/hi.sh")).unwrap(),
        "echo hi\n"
    );

    // An older copy is not lost by accident.
    fs::write(installed.join("mine"), "x").unwrap();
    let again = install(&[&url, "tools/greet"]);
    assert!(!again.status.success());
    assert!(text(&again.stderr).contains("--replace"));
    assert!(installed.join("mine").exists());
    let replaced = install(&["--replace", source.to_str().unwrap(), "tools/greet"]);
    assert!(replaced.status.success(), "{}", text(&replaced.stderr));
    assert!(!installed.join("mine").exists());

    let named = install(&["--to", "elsewhere", &url, "tools/greet", "other"]);
    assert!(named.status.success(), "{}", text(&named.stderr));
    assert!(directory.path().join("elsewhere/other/SKILL.md").is_file());
    for bad in [
        &[url.as_str(), "tools"][..],
        &[&url, "../home"],
        &[&url, "tools/greet", "../x"],
        &["nowhere", "x"],
        &["--unknown"],
        &[],
    ] {
        let refused = install(bad);
        assert!(!refused.status.success(), "{bad:?}");
        assert!(!refused.stderr.is_empty(), "{bad:?}");
    }
    let left: Vec<_> = fs::read_dir(home.join("skills")).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing half-made is left: {left:?}");
}
