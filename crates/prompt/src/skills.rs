//! Skills as the model meets them: the list it can choose from, the ones that the person names, and the
//! text of those.

use std::collections::HashSet;

use quipu_wire::{Json, UserInput};

use super::message;

/// The longest `SKILL.md` that is read.
const MAX_SKILL_BYTES: u64 = 1 << 20;

/// A skill that is installed and enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The absolute path of its `SKILL.md`.
    pub path: String,
    /// Whether the model may choose it by itself.
    pub implicit: bool,
}

/// The section that lists the skills; nothing if the model may choose none.
pub fn section(skills: &[Skill]) -> Option<String> {
    let lines: Vec<_> = skills
        .iter()
        .filter(|skill| skill.implicit)
        .map(|skill| {
            format!(
                "- {}: {} (file: {})\n",
                skill.name, skill.description, skill.path
            )
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let usage = include_str!("prompts/skills_usage.md").trim_end();
    Some(format!(
        "<skills_instructions>\n## Skills\n\nInstructions for special tasks are kept in files on this \
         machine, apart from this conversation.\n\n### Available skills\n\n{}\n{usage}\n\
         </skills_instructions>",
        lines.concat()
    ))
}

/// The skills that an input names: those it holds by path first, then those that its text mentions, in
/// the order of `skills`. `apps` are the names that would mean an app.
pub fn named<'a>(inputs: &[UserInput], skills: &'a [Skill], apps: &[String]) -> Vec<&'a Skill> {
    let mut found: Vec<&Skill> = Vec::new();
    let mut mentions = Mentions::default();
    for input in inputs {
        match input {
            UserInput::Skill { path, .. } => {
                let skill = skills.iter().find(|skill| skill.path == *path);
                found.extend(skill.filter(|skill| !found.contains(skill)));
            }
            UserInput::Text { text, .. } => mentions.read(text),
            _ => {}
        }
    }
    let is_only = |name: &str| {
        skills.iter().filter(|other| other.name == name).count() == 1
            && !apps.iter().any(|app| app == name)
    };
    for skill in skills {
        let mentioned = mentions.paths.contains(skill.path.as_str())
            || (mentions.names.contains(skill.name.as_str()) && is_only(&skill.name));
        if mentioned && !found.contains(&skill) {
            found.push(skill);
        }
    }
    found
}

/// Reads a skill that the person named into the message that follows theirs; the error is the warning to
/// show. Blocks on the file.
pub fn load(skill: &Skill) -> Result<Json, String> {
    let Skill { name, path, .. } = skill;
    match quipu_disk::read_text(path.as_ref(), MAX_SKILL_BYTES) {
        Ok(text) => Ok(message::user_text(format!(
            "<skill>\n<name>{name}</name>\n<path>{path}</path>\n{text}\n</skill>"
        ))),
        Err(error) => Err(format!("Failed to load skill {name} at {path}: {error}")),
    }
}

/// What a text mentions: `$name`, or `[$name](path)`, in which only the path counts.
#[derive(Default)]
struct Mentions<'a> {
    names: HashSet<&'a str>,
    paths: HashSet<&'a str>,
}

impl<'a> Mentions<'a> {
    fn read(&mut self, text: &'a str) {
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let in_brackets = rest[..at].ends_with('[');
            rest = &rest[at + 1..];
            let end = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = after;
            if name.is_empty() {
                continue;
            }
            let link = after.strip_prefix("](").filter(|_| in_brackets);
            if let Some((path, after)) = link.and_then(|link| link.split_once(')')) {
                let path = path.trim();
                self.paths
                    .insert(path.strip_prefix("skill://").unwrap_or(path));
                rest = after;
            } else if !is_environment_variable(name) {
                self.names.insert(name);
            }
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':')
}

/// People write these about their shell, not about a skill.
fn is_environment_variable(name: &str) -> bool {
    const COMMON: [&str; 11] = [
        "EDITOR",
        "HOME",
        "LANG",
        "OLDPWD",
        "PATH",
        "PWD",
        "SHELL",
        "TERM",
        "TMPDIR",
        "USER",
        "XDG_CONFIG_HOME",
    ];
    COMMON.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, directory: &str) -> Skill {
        Skill {
            name: name.into(),
            description: format!("does {name}"),
            path: format!("/s/{directory}/SKILL.md"),
            implicit: true,
        }
    }

    fn text(text: &str) -> UserInput {
        UserInput::Text {
            text: text.into(),
            text_elements: Vec::new(),
        }
    }

    /// Each line was put to the reference program.
    #[test]
    fn mentions_are_found_as_the_reference_finds_them() {
        let skills = [
            skill("bar-baz", "bar"),
            skill("dup", "d1"),
            skill("dup", "d2"),
            skill("foo", "foo"),
            skill("foo2", "foo2"),
            skill("a:b", "ns"),
            skill("PATH", "path"),
        ];
        let directories = |words: &str| -> Vec<String> {
            named(&[text(words)], &skills, &[])
                .iter()
                .map(|skill| skill.path.split('/').nth(2).unwrap().to_owned())
                .collect()
        };
        for words in [
            "$foo",
            "x$foo y",
            "$foo.",
            "($foo)",
            "`$foo`",
            "$$foo",
            "\\$foo",
            "$foo/bar",
            "é$foo",
            "$fooé",
            "$foo $foo",
            "[$foo](/s/foo/SKILL.md)",
            "[$zzz](/s/foo/SKILL.md)",
            "[$foo](skill:///s/foo/SKILL.md)",
        ] {
            assert_eq!(directories(words), ["foo"], "{words}");
        }
        for words in [
            "$foo-",
            "$foos",
            "$FOO",
            "$dup",
            "$PATH $HOME",
            "$foo:",
            "$foo:x",
            "[foo](/s/foo/SKILL.md)",
            "[$foo](/nope/SKILL.md)",
            "$",
            "",
        ] {
            assert!(directories(words).is_empty(), "{words}");
        }
        assert_eq!(directories("$foo2 $foo"), ["foo", "foo2"]);
        assert_eq!(directories("$bar-baz!"), ["bar"]);
        assert_eq!(directories("$a:b"), ["ns"]);
        assert_eq!(directories("[$dup](/s/d2/SKILL.md)"), ["d2"]);
        assert_eq!(directories("[$foo](/s/bar/SKILL.md) $dup"), ["bar"]);
    }

    #[test]
    fn skills_given_by_path_come_first_and_once() {
        let skills = [skill("a", "a"), skill("b", "b"), skill("c", "c")];
        let by_path = |path: &str| UserInput::Skill {
            name: "x".into(),
            path: path.into(),
        };
        let inputs = [
            text("$a $b"),
            by_path("/s/c/SKILL.md"),
            by_path("/s/b/SKILL.md"),
            by_path("/s/c/SKILL.md"),
            by_path("/gone/SKILL.md"),
        ];
        let names: Vec<_> = named(&inputs, &skills, &[])
            .iter()
            .map(|s| s.name.as_str())
            .collect();
        assert_eq!(names, ["c", "b", "a"]);
        assert_eq!(
            named(&[text("$a")], &skills, &["a".into()]),
            Vec::<&Skill>::new()
        );
    }

    #[test]
    fn the_list_holds_what_the_model_may_choose() {
        let hidden = Skill {
            implicit: false,
            ..skill("hidden", "h")
        };
        assert_eq!(section(std::slice::from_ref(&hidden)), None);
        let section = section(&[skill("foo", "foo"), hidden]).unwrap();
        assert!(section.starts_with("<skills_instructions>\n## Skills\n"));
        assert!(section.ends_with("\n</skills_instructions>"));
        assert!(section.contains("\n- foo: does foo (file: /s/foo/SKILL.md)\n\n### "));
        assert!(!section.contains("hidden"));
    }

    #[test]
    fn a_named_skill_is_read_whole_or_a_warning_says_why_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("SKILL.md");
        std::fs::write(&path, "---\nname: foo\n---\nBody of foo\n").unwrap();
        let path = path.to_str().unwrap();
        let skill = Skill {
            path: path.into(),
            ..skill("foo", "")
        };
        let text = load(&skill).unwrap().to_value()["content"][0]["text"].clone();
        let body = "---\nname: foo\n---\nBody of foo\n\n</skill>";
        assert_eq!(
            text,
            format!("<skill>\n<name>foo</name>\n<path>{path}</path>\n{body}")
        );
        let gone = Skill {
            path: "/gone/SKILL.md".into(),
            ..skill
        };
        assert_eq!(
            load(&gone).unwrap_err(),
            "Failed to load skill foo at /gone/SKILL.md: No such file or directory (os error 2)"
        );
    }
}
