//! `docs/sandbox-attacks.md`: every attack, and what each mechanism makes of it.
//!
//! The page is written by a run with `UPDATE=1`; every other run compares it with what it finds. What
//! this machine does not offer is left as it stands there.

use std::{collections::BTreeMap, fs, path::PathBuf};

use quipu_sandbox::Enforcement;

use super::{KINDS, MECHANISMS, Outcomes, Result, Works, is_available};

const INTRODUCTION: &str = "\
# Attacks on the sandbox

Every way out of the [sandbox](sandbox.md) that the project has tried, and what came of it. `cargo test -p quipu-sandbox` carries out
each attack without a sandbox first, where it must work, and then in each kind of sandbox under `readOnly`, `workspaceWrite`,
`workspaceWrite` with `networkAccess`, and with a managed network, as root and as an ordinary user. This page is written by that run
(`UPDATE=1 cargo test -p quipu-sandbox the_page`), and a run that finds something else fails.

*Works bare* says for whom the attack works without a sandbox: for anybody, for root only, or, where that depends on the machine or is
better not tried, it is left open. *Held* means prevented under every policy and for both users. *Held, or allowed* means that a policy
with network allows it on purpose. **Open** means that it works.

Known to be open: a kernel with namespaces but without Landlock (before 5.19, or switched off) lets a command write into named pipes
outside that its user may write to, since a read-only mount does not count for those.
";

/// The start of a line by which one run tells another what it found.
const LINE: &str = "outcome\t";

type Cells = BTreeMap<(String, String), Result>;

/// Prints what was found, for the run that asked.
pub fn hand_over(outcomes: &Outcomes) {
    for it in &outcomes.all {
        let line = format!(
            "{LINE}{}\t{:?}\t{:?}\n",
            it.attack, it.enforcement, it.result
        );
        crate::actor::say(&line);
    }
}

/// Compares the page with what this user and another have found, or writes it.
pub async fn compare(own: &Outcomes, of_other: &str) {
    let mut cells = Cells::new();
    let own = own.all.iter().map(|it| {
        let mechanism = format!("{:?}", it.enforcement);
        ((it.attack.to_owned(), mechanism), it.result)
    });
    let other = of_other.lines().filter_map(|line| {
        let mut parts = line.strip_prefix(LINE)?.split('\t');
        let key = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let result = match parts.next()? {
            "Prevented" => Result::Prevented,
            "Meant" => Result::Meant,
            _ => Result::Escaped,
        };
        Some((key, result))
    });
    for (key, result) in own.chain(other) {
        let worst = cells.entry(key).or_insert(result);
        if *worst == Result::Prevented || result == Result::Escaped {
            *worst = result;
        }
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/sandbox-attacks.md");
    let stands = fs::read_to_string(&path).unwrap_or_default();
    let mut missing = Vec::new();
    for (column, mechanism) in MECHANISMS.into_iter().enumerate() {
        if !is_available(mechanism).await {
            missing.push(column);
        }
    }
    let page = render(&cells, &stands, &missing);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, page).unwrap();
    } else {
        assert!(
            page == stands,
            "docs/sandbox-attacks.md is not what this run found; UPDATE=1 writes this:\n{page}"
        );
    }
}

fn render(cells: &Cells, stands: &str, missing: &[usize]) -> String {
    let mut page = INTRODUCTION.to_owned();
    for (title, attacks) in KINDS {
        page.push_str(&format!("\n## {title}\n\n| attack | works bare |"));
        for mechanism in MECHANISMS {
            page.push_str(&format!(" {} |", column(mechanism)));
        }
        page.push_str("\n|---|---|---|---|---|---|\n");
        for (attack, works, _) in attacks {
            let works = match works {
                Works::ForAnybody => "for anybody",
                Works::ForRoot => "for root",
                Works::Unknown => "",
            };
            page.push_str(&format!("| {attack} | {works} |"));
            for (number, mechanism) in MECHANISMS.into_iter().enumerate() {
                let key = ((*attack).to_owned(), format!("{mechanism:?}"));
                let text = match cells.get(&key) {
                    _ if missing.contains(&number) => standing(stands, attack, number),
                    Some(Result::Prevented) => "held",
                    Some(Result::Meant) => "held, or allowed",
                    Some(Result::Escaped) => "**open**",
                    None => "not tried",
                };
                page.push_str(&format!(" {text} |"));
            }
            page.push('\n');
        }
    }
    page
}

fn column(mechanism: Enforcement) -> String {
    match mechanism {
        Enforcement::Auto => "whatever there is".to_owned(),
        Enforcement::Namespaces => "namespaces and Landlock".to_owned(),
        Enforcement::OnlyNamespaces => "namespaces".to_owned(),
        Enforcement::Landlock => "Landlock".to_owned(),
        Enforcement::OldLandlock(version) => format!("Landlock version {version}"),
    }
}

/// What the page says already.
fn standing<'a>(stands: &'a str, attack: &str, number: usize) -> &'a str {
    let start = format!("| {attack} |");
    let line = stands.lines().find(|line| line.starts_with(&start));
    let cell = line.and_then(|line| line.split('|').nth(number + 3));
    cell.map_or("not tried", str::trim)
}
