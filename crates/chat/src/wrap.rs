//! Text that fits a terminal: without anything that a terminal would obey, and in lines of its width.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::style::Line;

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Text of models, files and programs without control characters; tabs become spaces.
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => clean.push('\n'),
            '\t' => clean.push_str("    "),
            // The sequences of terminals go as a whole, or their letters would remain.
            '\x1b' => skip_sequence(&mut letters),
            // Marks that change the direction of text can hide what a command does.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            letter if letter.is_control() => {}
            letter => clean.push(letter),
        }
    }
    clean
}

fn skip_sequence(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match letters.next() {
        Some('[') => {
            for letter in letters.by_ref() {
                if ('\x40'..='\x7e').contains(&letter) {
                    return;
                }
            }
        }
        Some(']') => {
            while let Some(letter) = letters.next() {
                if letter == '\x07' || (letter == '\x1b' && letters.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        _ => {}
    }
}

/// Lines of at most this many columns, broken at spaces where possible. What follows the first line keeps its
/// indentation.
pub fn wrap(line: &Line, columns: usize) -> Vec<Line> {
    pieces(&line.text, columns)
        .into_iter()
        .map(|text| Line::new(text, line.look))
        .collect()
}

fn pieces(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let indent: String = text.chars().take_while(|it| *it == ' ').collect();
    let indent = if indent.len() * 2 > columns {
        String::new()
    } else {
        indent
    };
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for word in text.split_inclusive(' ') {
        let size = width(word.trim_end());
        if used + size > columns && used > width(&indent) {
            lines.push(line.trim_end().to_owned());
            (line, used) = (indent.clone(), width(&indent));
        }
        for letter in word.chars() {
            let size = letter.width().unwrap_or(0);
            if used + size > columns && letter != ' ' {
                lines.push(line.trim_end().to_owned());
                (line, used) = (indent.clone(), width(&indent));
            }
            line.push(letter);
            used += size;
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// The beginning of a text in this many columns, on one line.
pub fn cut(text: &str, columns: usize) -> String {
    let text = text.split('\n').next().unwrap_or_default();
    if width(text) <= columns {
        return text.to_owned();
    }
    let (mut short, mut used) = (String::new(), 1);
    for letter in text.chars() {
        used += letter.width().unwrap_or(0);
        if used > columns {
            break;
        }
        short.push(letter);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_would_obey_remains() {
        assert_eq!(
            clean("a\x1b[31mb\x1b]0;title\x07c\x1b]8;;x\x1b\\d\re\x07"),
            "abcde"
        );
        assert_eq!(clean("\u{202e}evil\tx\n"), "evil    x\n");
        assert_eq!(clean("\x1b[999"), "");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(pieces("  one two three", 9), ["  one two", "  three"]);
        assert_eq!(pieces("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(pieces("日本語日本語", 8), ["日本語日", "本語"]);
        assert_eq!(pieces("", 8), [""]);
        assert_eq!(cut("日本語日本語", 5), "日本…");
    }
}
