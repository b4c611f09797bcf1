//! Just enough reading of Rust for the checks: which characters are code, comment or literal,
//! where a file's inline tests begin, and how long its functions are. A parser would see more, but
//! would have to be built before the first check can run.

/// What a character of a source file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Anything that is neither comment nor literal.
    Code,
    /// A line, block or doc comment.
    Comment,
    /// A string or character literal.
    Literal,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of its `fn`, counted from 1.
    pub line: usize,
    /// Lines from its `fn` to its closing brace.
    pub lines: usize,
}

/// An `impl` block, or a definition of a struct or enum.
#[derive(Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// What stands between the keyword and the body.
    pub header: &'a str,
    /// The body with its braces; empty if there is none.
    pub body: &'a str,
    /// The line of the keyword, counted from 1.
    pub line: usize,
    /// Lines from the keyword to the end of the body.
    pub lines: usize,
}

/// `text` with all that is not `part` blanked out; every line keeps its number.
pub fn only(text: &str, part: Part) -> String {
    let parts = classify(text.as_bytes());
    let keep = |(at, c): (usize, char)| {
        if c == '\n' || parts[at] == part {
            c
        } else {
            ' '
        }
    };
    text.char_indices().map(keep).collect()
}

/// How many lines of `code` come before its inline test module, when it has one.
pub fn inline_tests(code: &str) -> Option<usize> {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    lines.iter().enumerate().position(|(at, line)| {
        let for_tests = line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
        let item = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
        for_tests && item.is_some_and(|item| item.contains("mod ") && item.ends_with('{'))
    })
}

/// The functions of `code`, which must be free of comments and literals.
pub fn functions(code: &str) -> Vec<Function> {
    words(code, "fn")
        .filter_map(|at| function_at(code, at))
        .collect()
}

/// The items of `code` that begin with `keyword`. `code` must be free of comments and literals.
pub fn blocks<'a>(code: &'a str, keyword: &'a str) -> impl Iterator<Item = Block<'a>> + 'a {
    words(code, keyword)
        .filter(|at| begins_item(code, *at))
        .filter_map(|at| block_at(code, at, keyword))
}

/// Whether nothing but a visibility or `unsafe` comes before `at` in its line.
fn begins_item(code: &str, at: usize) -> bool {
    let start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = code[start..at].trim();
    matches!(before, "" | "pub" | "unsafe") || (before.starts_with("pub(") && before.ends_with(')'))
}

fn block_at<'a>(code: &'a str, at: usize, keyword: &str) -> Option<Block<'a>> {
    let rest = &code[at + keyword.len()..];
    if !rest.starts_with(|c: char| c == '<' || c.is_whitespace()) {
        return None;
    }
    let (header, body) = match body_start(rest) {
        Some(start) => {
            let length = block_length(&rest[start..])?;
            (&rest[..start], &rest[start..=start + length])
        }
        None => (rest.split(';').next()?, ""),
    };
    Some(Block {
        header: header.trim(),
        body,
        line: line_of(code, at),
        lines: header.matches('\n').count() + body.matches('\n').count() + 1,
    })
}

/// Where `word` stands in `code` and no identifier goes on before it.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(|at| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(is_identifier)
    })
}

/// The line of the character at `at`, counted from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn function_at(code: &str, at: usize) -> Option<Function> {
    let signature = code[at + "fn".len()..]
        .strip_prefix(char::is_whitespace)?
        .trim_start();
    let name: String = signature
        .chars()
        .take_while(|c| is_identifier(*c))
        .collect();
    let body = body_start(signature).filter(|_| !name.is_empty())?;
    let end = body + block_length(&signature[body..])?;
    let start = code.len() - signature.len();
    let line = line_of(code, at);
    Some(Function {
        name,
        line,
        lines: line_of(code, start + end) - line + 1,
    })
}

/// Where the body opens, or nothing for a declaration that ends in `;`.
fn body_start(signature: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in signature.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The distance to the brace that closes the one `code` begins with.
fn block_length(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn classify(text: &[u8]) -> Vec<Part> {
    let mut parts = vec![Part::Code; text.len()];
    let mut at = 0;
    while at < text.len() {
        match not_code(text, at) {
            Some((part, length)) => {
                let end = text.len().min(at + length);
                parts[at..end].fill(part);
                at = end;
            }
            None => at += 1,
        }
    }
    parts
}

/// The comment or literal that begins at `at`, with its length.
fn not_code(text: &[u8], at: usize) -> Option<(Part, usize)> {
    let rest = &text[at..];
    match rest {
        [b'/', b'/', ..] => {
            let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            Some((Part::Comment, length))
        }
        [b'/', b'*', ..] => Some((Part::Comment, block_comment_length(rest))),
        [b'"', ..] => Some((Part::Literal, string_length(rest))),
        [b'r', ..] if begins_token(text, at) => Some((Part::Literal, raw_string_length(rest)?)),
        [b'\'', ..] => Some((Part::Literal, char_length(rest)?)),
        _ => None,
    }
}

/// Whether a token can begin at `at`, alone or after the `b` or `c` of a literal's prefix.
fn begins_token(text: &[u8], at: usize) -> bool {
    let inside_word = |at: usize| at > 0 && is_identifier(char::from(text[at - 1]));
    !inside_word(at) || (matches!(text[at - 1], b'b' | b'c') && !inside_word(at - 1))
}

fn block_comment_length(text: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => depth += 1,
            [b'*', b'/', ..] => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn raw_string_length(text: &[u8]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|b| **b == b'#').count();
    let open = 1 + hashes;
    if text.get(open) != Some(&b'"') {
        return None;
    }
    let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
    let body = &text[open + 1..];
    let length = body.windows(close.len()).position(|window| window == close);
    Some(length.map_or(text.len(), |length| open + 1 + length + close.len()))
}

/// The length of a character literal; a lifetime is none.
fn char_length(text: &[u8]) -> Option<usize> {
    if text.get(1) == Some(&b'\\') {
        let close = text.iter().skip(3).position(|b| *b == b'\'')?;
        return Some(close + 4);
    }
    // One character of UTF-8 takes up to four bytes.
    let close = text.iter().take(6).skip(2).position(|b| *b == b'\'')? + 2;
    let one_character = std::str::from_utf8(&text[1..close]).is_ok_and(|s| s.chars().count() == 1);
    one_character.then_some(close + 1)
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str) {
        let kept = only(text, Part::Code);
        assert_eq!(
            kept.split_whitespace().collect::<Vec<_>>().join(" "),
            code,
            "{text}"
        );
        assert_eq!(
            kept.matches('\n').count(),
            text.matches('\n').count(),
            "{text}"
        );
    }

    #[test]
    fn blanks_comments_and_literals() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check(r#"a("b \" c") d"#, "a( ) d");
        check("a(r#\"b \" \\\"#) c", "a( ) c");
        check("a(br\"b\\\") c", "a(b ) c");
        check("a('\"') b('\\'') c('é') d", "a( ) b( ) c( ) d");
        check(
            "fn a<'b>(c: &'b str, r#d: u8)",
            "fn a<'b>(c: &'b str, r#d: u8)",
        );
        check("for \"x", "for");
        check("a /* b", "a");
    }

    #[test]
    fn keeps_comments_when_asked() {
        assert_eq!(only("a \"// b\" // c", Part::Comment).trim(), "// c");
    }

    #[test]
    fn finds_inline_tests() {
        let attributes = "fn a() {}\n\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n}\n";
        assert_eq!(inline_tests(attributes), Some(2));
        assert_eq!(inline_tests("fn a() {}\n#[cfg(test)]\nmod tests;\n"), None);
        assert_eq!(inline_tests("#[cfg(test)]\nimpl A {\n}\n"), None);
    }

    #[test]
    fn measures_functions() {
        let code = "\
trait A {
    fn declared(x: [u8; 2]);
    fn short() {}
    fn long<T>(
        f: fn(T) -> u8,
    ) -> u8
    where
        T: Copy,
    {
        match x { _ => {} }
    }
}
";
        let sizes: Vec<_> = functions(code)
            .into_iter()
            .map(|f| (f.name, f.line, f.lines))
            .collect();
        assert_eq!(
            sizes,
            [("short".to_owned(), 3, 1), ("long".to_owned(), 4, 8)]
        );
    }

    #[test]
    fn finds_blocks() {
        let code = "\
pub(crate) struct A<T>(T);
impl<T> A<T>
where
    T: Fn() -> u8,
{
    fn a(b: impl Fn()) {}
}
fn implement() {}
";
        let found = |keyword| {
            let blocks = blocks(code, keyword);
            let parts = blocks.map(|it| (it.header.to_owned(), it.line, it.lines));
            parts.collect::<Vec<_>>()
        };
        assert_eq!(found("struct"), [("A<T>(T)".to_owned(), 1, 1)]);
        let header = "<T> A<T>\nwhere\n    T: Fn() -> u8,".to_owned();
        assert_eq!(found("impl"), [(header, 2, 6)]);
    }

    #[test]
    fn survives_unbalanced_code() {
        assert_eq!(blocks("impl A { {", "impl").count(), 0);
        assert_eq!(functions("fn a() { { }"), []);
        assert_eq!(functions("fn"), []);
        assert_eq!(functions("fn a("), []);
    }
}
