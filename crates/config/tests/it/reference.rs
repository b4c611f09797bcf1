//! `docs/config.md` is generated from the table of keys, and this test keeps it up to date.
//!
//! `UPDATE=1 cargo test -p quipu-config` writes it.

use std::fs;
use std::path::Path;

use quipu_config::schema::{Absent, Effect, Key, Kind, REQUIREMENTS, ROOT, Section};
use quipu_config::{ALIASES, Feature, Stage};

const INTRODUCTION: &str = "\
# Configuration

This page is generated from the settings table in the code; regenerate it with `UPDATE=1 cargo test -p quipu-config`.

Settings are read from these sources. Later sources override earlier ones; tables are merged key by key:

1. `/etc/codex/config.toml`, for all users of the machine;
2. `config.toml` in the home directory: `$QUIPU_HOME`, else `$CODEX_HOME`, else `~/.quipu`
   (`~/.codex` when started as `codex`);
3. `.codex/config.toml` in the project root and in each directory from there to the working directory, if the user's own
   file marks that directory as trusted (`projects.DIRECTORY.trust_level`);
4. `-c key=value`, `--enable feature` and `--disable feature` on the command line, and the `config` of `thread/start`;
5. `/etc/codex/managed_config.toml`, the older way for administrators to override users.

The profile named by `profile` overrides all of them, and the params of a request override the profile. A relative path
is relative to the directory of its file; `~` is the user's home directory.

Clients get a `configWarning` when they connect, and `exec` prints a warning, for:

- an unknown key, with the most similar known key;
- a key that is *accepted, no effect*: the official program has it, Quipu does not use it. Keys that only the official
  terminal interface uses are accepted without a warning, since both programs can share a file;
- a feature that was removed, if it is set to other than its default;
- an enabled feature under development, unless `suppress_unstable_features_warning` is set;
- a value of the wrong type, with its position in the file. Until the file is fixed, the server answers only requests that
  need no settings and refuses to start threads with the same message; `exec` fails with it.

Words in capitals are placeholders for names you choose.
";

const REQUIREMENTS_INTRODUCTION: &str = "
# Requirements

`/etc/codex/requirements.toml` restricts what users may set. A setting that violates a requirement is replaced by a
permitted value, with a warning; an MCP server that is not allowed is switched off, with a warning.
";

#[test]
fn the_reference_page_is_up_to_date() {
    let mut page = Page {
        text: INTRODUCTION.to_owned(),
        shown: Vec::new(),
    };
    page.section("Top level", "", &ROOT, Effect::Works);
    page.text.push_str(&features());
    page.text.push_str(REQUIREMENTS_INTRODUCTION);
    page.section(
        "Top level of `requirements.toml`",
        "",
        &REQUIREMENTS,
        Effect::Works,
    );
    let page = page.text;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == page,
        "docs/config.md is out of date: UPDATE=1 cargo test -p quipu-config"
    );
}

struct Page {
    text: String,
    /// Tables that several keys share are shown once.
    shown: Vec<&'static str>,
}

impl Page {
    /// A table of keys, followed by the tables inside it. A profile repeats top-level keys, so they are
    /// only listed by name. What holds for the table's own key holds for all of it.
    fn section(&mut self, title: &str, prefix: &str, section: &Section, effect: Effect) {
        if self.shown.contains(&section.name) {
            return;
        }
        self.shown.push(section.name);
        self.text.push_str(&format!("\n## {title}\n\n"));
        if section.name == "ConfigProfile" {
            let names: Vec<String> = section
                .keys
                .iter()
                .map(|key| format!("`{}`", key.name))
                .collect();
            let names = names.join(", ");
            self.text.push_str(&format!(
                "A profile may set, with the same meaning: {names}.\n"
            ));
            return;
        }
        if !section.keys.is_empty() {
            self.text
                .push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        }
        for key in section.keys {
            self.text.push_str(&row(key, inherited(effect, key)));
        }
        for key in section.keys {
            let path = format!("{prefix}{}", key.name);
            self.inner(&path, &key.kind, inherited(effect, key));
        }
        if let Some(rest) = section.rest {
            if section.keys.is_empty() {
                let kind = kind(rest);
                self.text.push_str(&format!(
                    "Each key is a name you choose, each value {kind}.\n"
                ));
            }
            self.inner(&format!("{prefix}NAME"), rest, effect);
        }
    }

    fn inner(&mut self, path: &str, kind: &Kind, effect: Effect) {
        let (title, list) = (format!("`[{path}]`"), format!("`[[{path}]]`"));
        let prefix = format!("{path}.");
        match kind {
            Kind::Table(table) => self.section(&title, &prefix, table, effect),
            Kind::Map(kind, _) => self.inner(&format!("{path}.NAME"), kind, effect),
            Kind::List(Kind::Table(table)) => self.section(&list, &prefix, table, effect),
            Kind::AnyOf(_, kinds) => kinds.iter().for_each(|kind| self.inner(path, kind, effect)),
            Kind::Variant(variants) => {
                for (variant, table) in variants.iter().filter_map(|v| Some((v, v.section?))) {
                    let path = format!("{path}.{}", variant.name);
                    self.section(&format!("`[{path}]`"), &format!("{path}."), table, effect);
                }
            }
            _ => {}
        }
    }
}

/// A key of a table without effect has none either.
fn inherited(table: Effect, key: &Key) -> Effect {
    match table {
        Effect::Works => key.effect,
        other => other,
    }
}

fn row(key: &Key, effect: Effect) -> String {
    let alias = key
        .alias
        .map(|alias| format!(", `{alias}`"))
        .unwrap_or_default();
    let (kind, default) = (kind(&key.kind), default(key));
    let meaning = match effect {
        Effect::Works => key.doc.to_owned(),
        Effect::Nothing => format!("*Accepted, no effect.* {}", key.doc),
        Effect::OfficialTui => "Ignored here; preserved for the official TUI.".to_owned(),
    };
    format!(
        "| `{}`{alias} | {kind} | {default} | {meaning} |\n",
        key.name
    )
}

fn default(key: &Key) -> String {
    match (key.default, &key.absent) {
        (_, Absent::Required) => "required".to_owned(),
        ("", _) => "unset".to_owned(),
        (text, _) if text.starts_with(['[', '{', '"']) => format!("`{text}`"),
        (text, _) => text.to_owned(),
    }
}

fn kind(kind: &Kind) -> String {
    let words = |words: &[&str]| {
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        quoted.join(", ")
    };
    match kind {
        Kind::Bool => "boolean".to_owned(),
        Kind::Str => "string".to_owned(),
        Kind::Path | Kind::PlainPath => "path".to_owned(),
        Kind::Int(int) if int.narrowed && int.max < i64::MAX => {
            format!("integer from {} to {}", int.min, int.max)
        }
        Kind::Int(int) if int.min > 0 => "positive integer".to_owned(),
        Kind::Int(int) if int.min == 0 => "integer ≥ 0".to_owned(),
        Kind::Int(_) => "integer".to_owned(),
        Kind::Seconds => "seconds".to_owned(),
        Kind::Number => "number ≥ 0".to_owned(),
        Kind::Word(list) => words(list),
        Kind::OpenWord(_, list) => format!("{}, or any other word", words(list)),
        Kind::WordSince(list, later) => words(&[*list, *later].concat()),
        Kind::Variant(variants) => words(
            &variants
                .iter()
                .map(|variant| variant.name)
                .collect::<Vec<_>>(),
        ),
        Kind::List(Kind::Table(_)) => "array of tables".to_owned(),
        Kind::List(inner) => format!("array: {}", self::kind(inner)),
        Kind::Map(Kind::Table(_), _) => "tables by name".to_owned(),
        Kind::Map(inner, _) => format!("table: {}", self::kind(inner)),
        Kind::Table(_) | Kind::Switches => "table".to_owned(),
        Kind::AnyOf(_, kinds) => kinds
            .iter()
            .map(self::kind)
            .collect::<Vec<_>>()
            .join(" or "),
    }
}

fn features() -> String {
    let mut page =
        "\n## `[features]`\n\n| key | stage | default | meaning |\n|---|---|---|---|\n".to_owned();
    for feature in Feature::ALL {
        let stage = match feature.stage() {
            Stage::Stable => "stable",
            Stage::UnderDevelopment => "under development",
            Stage::Deprecated => "deprecated",
            Stage::Removed => "removed",
            Stage::NoEffect => "accepted, no effect",
        };
        let default = if feature.default_enabled() {
            "on"
        } else {
            "off"
        };
        page.push_str(&format!(
            "| `{}` | {stage} | {default} | {} |\n",
            feature.name(),
            feature.summary()
        ));
    }
    let old: Vec<String> = ALIASES
        .iter()
        .map(|(alias, feature)| format!("`{alias}` (now `{}`)", feature.name()))
        .collect();
    page + &format!("\nOld names still work: {}.\n", old.join(", "))
}

#[test]
fn the_page_on_the_sandbox_lists_all_hidden_credentials() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sandbox.md");
    let page = fs::read_to_string(path).unwrap();
    let listed: Vec<&str> = page
        .split('`')
        .filter_map(|word| word.strip_prefix("~/"))
        .filter(|word| *word != "vault")
        .collect();
    assert_eq!(listed, quipu_config::settings::CREDENTIALS);
}
