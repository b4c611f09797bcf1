//! Types stay small enough to have one job. Limits on files alone teach code to spread a type over many of them, so
//! all `impl` blocks of a type count together; and a type whose methods change it keeps most of its fields private.

use super::sizes::Measure;
use crate::rust_text::{self, Block};
use crate::tree::{File, Tree};

/// Lines of all `impl` blocks of a type.
const IMPL_LIMIT: usize = 600;
/// Fields of a type that others can change, if it has methods that change it.
const FIELD_LIMIT: usize = 15;

/// A struct or enum, with what all files of its crate say about it.
struct Type<'a> {
    file: &'a File,
    name: String,
    line: usize,
    public_fields: usize,
    impl_lines: usize,
    has_mutating_methods: bool,
}

/// The sizes of all types of the project.
pub fn measure(tree: &Tree) -> Vec<Measure<'_>> {
    let mut types: Vec<Type<'_>> = tree.rust_files().flat_map(definitions).collect();
    for file in tree.rust_files() {
        let code = file.code();
        for block in rust_text::blocks(&code.text, "impl") {
            let name = implementing_type(block.header);
            if let Some(owner) = owner(&mut types, file, name)
                && block.line <= code.product_lines
            {
                owner.impl_lines += block.lines;
                owner.has_mutating_methods |= block.body.contains("&mut self");
            }
        }
    }
    types.into_iter().flat_map(Type::measures).collect()
}

impl<'a> Type<'a> {
    fn measures(self) -> [Measure<'a>; 2] {
        let measure = |what: &str, size, unit, rule| Measure {
            file: self.file,
            subject: format!("{}::{}.{what}", self.file.path, self.name),
            line: self.line,
            size,
            unit,
            rule,
        };
        let exposed = match self.has_mutating_methods {
            true => self.public_fields,
            false => 0,
        };
        [
            measure("impl", self.impl_lines, "lines", IMPL_LIMIT),
            measure("fields", exposed, "public fields", FIELD_LIMIT),
        ]
    }
}

/// The types that a file defines, outside of its tests.
fn definitions(file: &File) -> Vec<Type<'_>> {
    let code = file.code();
    let structs = rust_text::blocks(&code.text, "struct");
    let enums = rust_text::blocks(&code.text, "enum");
    structs
        .chain(enums)
        .filter(|block| block.line <= code.product_lines)
        .map(|block| Type {
            file,
            name: leading_name(block.header).to_owned(),
            line: block.line,
            public_fields: public_fields(&block),
            impl_lines: 0,
            has_mutating_methods: false,
        })
        .collect()
}

fn public_fields(block: &Block<'_>) -> usize {
    let lines = block.body.lines().map(str::trim_start);
    lines
        .filter(|line| line.starts_with("pub ") || line.starts_with("pub("))
        .count()
}

/// The type of this name that a file means: its own, or else the nearest one in its crate.
fn owner<'t, 'a>(types: &'t mut [Type<'a>], file: &File, name: &str) -> Option<&'t mut Type<'a>> {
    let candidates = types
        .iter_mut()
        .filter(|it| it.name == name && it.file.crate_directory() == file.crate_directory());
    candidates.max_by_key(|it| {
        let (one, other) = (it.file.path.split('/'), file.path.split('/'));
        one.zip(other).take_while(|(a, b)| a == b).count()
    })
}

/// The type in the header of an `impl` block: `<T> Trait<X> for path::Name<T>`.
fn implementing_type(header: &str) -> &str {
    let after_generics = match header.strip_prefix('<') {
        Some(rest) => after_generics(rest),
        None => header,
    };
    let path = match after_generics.split_once(" for ") {
        Some((_, path)) => path,
        None => after_generics,
    };
    let end = path.find(|c: char| c == '<' || c.is_whitespace());
    let path = &path[..end.unwrap_or(path.len())];
    path.rsplit("::").next().unwrap_or(path)
}

/// What follows the `>` that closes an opened `<`.
fn after_generics(text: &str) -> &str {
    let mut depth = 1_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text[at + 1..].trim_start();
        }
        before = c;
    }
    ""
}

fn leading_name(header: &str) -> &str {
    let end = header.find(|c: char| !c.is_alphanumeric() && c != '_');
    &header[..end.unwrap_or(header.len())]
}

#[cfg(test)]
mod tests {
    use super::super::{assert_says, sizes};

    fn method(lines: usize) -> String {
        format!(
            "    fn a(&mut self) {{\n{}    }}\n",
            "        x();\n".repeat(lines)
        )
    }

    /// A type whose blocks in two files have 60 methods of 10 lines together.
    fn spread(name: &str) -> [(String, String); 2] {
        let half = method(8).repeat(30);
        let one = format!("pub struct {name} {{\n    a: u8,\n}}\nimpl {name} {{\n{half}}}\n");
        let other = format!("impl<T: Fn() -> u8> Trait<T> for crate::{name}<T> {{\n{half}}}\n");
        [
            ("crates/a/src/one.rs".to_owned(), one),
            ("crates/a/src/deep/other.rs".to_owned(), other),
        ]
    }

    fn check(files: &[(String, String)], allow: &str, expected: &[&str]) {
        let mut all = vec![("crates/xtask/allow.txt", allow)];
        all.extend(
            files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str())),
        );
        assert_says(sizes::check, &all, expected);
    }

    #[test]
    fn blocks_in_all_files_of_a_crate_count_together() {
        check(
            &spread("Big"),
            "",
            &[
                "crates/a/src/one.rs:1: `crates/a/src/one.rs::Big.impl` has 604 lines, the limit is 600; split it",
            ],
        );
        check(&spread("Big"), "crates/a/src/one.rs::Big.impl 604\n", &[]);
        check(
            &spread("Big"),
            "crates/a/src/one.rs::Big.impl 700\n",
            &[
                "crates/xtask/allow.txt:1: allows more than is needed; write `crates/a/src/one.rs::Big.impl 604`",
            ],
        );
    }

    #[test]
    fn types_of_the_same_name_are_distinguished() {
        let mut files = spread("Big").to_vec();
        files[1].1.insert_str(0, "enum Big {\n    A,\n}\n");
        check(&files, "", &[]);
        let mut files = spread("Big").to_vec();
        files[1].0 = "crates/b/src/other.rs".to_owned();
        check(&files, "", &[]);
    }

    #[test]
    fn a_type_that_changes_itself_hides_its_fields() {
        let fields = "    pub a: u8,\n    pub(crate) b: u8,\n".repeat(8);
        let data = format!("pub struct Open {{\n{fields}}}\n");
        let file = |text: String| [("crates/a/src/one.rs".to_owned(), text)];
        check(&file(data.clone()), "", &[]);
        let reading = "impl Open {\n    fn a(&self) {}\n}\n";
        check(&file(format!("{data}{reading}")), "", &[]);
        let changing = "impl Open {\n    fn a(&mut self) {}\n}\n";
        check(
            &file(format!("{data}{changing}")),
            "",
            &[
                "crates/a/src/one.rs:1: `crates/a/src/one.rs::Open.fields` has 16 public fields, the limit is 15; split it",
            ],
        );
    }

    #[test]
    fn tests_do_not_count() {
        let mut files = spread("Big").to_vec();
        files[1].1.insert_str(0, "#[cfg(test)]\nmod tests {\n");
        check(&files, "", &[]);
    }
}
