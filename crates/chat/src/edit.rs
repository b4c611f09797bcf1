//! The text that the user types: several lines, a cursor, and what was typed before.

/// Texts that are remembered.
const MOST_REMEMBERED: usize = 500;

#[derive(Debug, Default)]
pub struct Edit {
    text: String,
    /// A byte position at a boundary of characters.
    cursor: usize,
    remembered: Vec<String>,
    /// Which remembered text is shown, and what was typed before one was.
    recalled: Option<(usize, String)>,
}

impl Edit {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn set(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.cursor = self.text.len();
        self.recalled = None;
    }

    /// Takes the text and remembers it.
    pub fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.remember(&text);
        text
    }

    pub fn remember(&mut self, text: &str) {
        self.recalled = None;
        if !text.trim().is_empty() && self.remembered.last().is_none_or(|it| it != text) {
            self.remembered.push(text.to_owned());
        }
        if self.remembered.len() > MOST_REMEMBERED {
            self.remembered.remove(0);
        }
    }

    pub fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Replaces what is between two byte positions.
    pub fn replace(&mut self, from: usize, to: usize, with: &str) {
        self.text.replace_range(from..to, with);
        self.cursor = from + with.len();
    }

    fn before(&self) -> usize {
        let before = self.text[..self.cursor].chars().next_back();
        self.cursor - before.map_or(0, char::len_utf8)
    }

    fn after(&self) -> usize {
        self.cursor
            + self.text[self.cursor..]
                .chars()
                .next()
                .map_or(0, char::len_utf8)
    }

    /// Where the line of the cursor begins.
    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..]
            .find('\n')
            .map_or(self.text.len(), |at| self.cursor + at)
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end_matches(char::is_whitespace);
        before.rfind(char::is_whitespace).map_or(0, |at| at + 1)
    }

    fn delete(&mut self, from: usize, to: usize) {
        self.replace(from, to, "");
    }

    pub fn backspace(&mut self) {
        self.delete(self.before(), self.cursor);
    }

    pub fn delete_next(&mut self) {
        self.delete(self.cursor, self.after());
    }

    pub fn delete_word(&mut self) {
        self.delete(self.word_start(), self.cursor);
    }

    pub fn delete_to_start(&mut self) {
        self.delete(self.line_start(), self.cursor);
    }

    pub fn delete_to_end(&mut self) {
        let (from, to) = (self.cursor, self.line_end());
        self.delete(from, to);
    }

    pub fn left(&mut self) {
        self.cursor = self.before();
    }

    pub fn right(&mut self) {
        self.cursor = self.after();
    }

    pub fn home(&mut self) {
        self.cursor = self.line_start();
    }

    pub fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// One line up, or the text that was typed before.
    pub fn up(&mut self) {
        let start = self.line_start();
        if start > 0 {
            let column = self.text[start..self.cursor].chars().count();
            self.cursor = start - 1;
            let start = self.line_start();
            self.move_to_column(start, column);
            return;
        }
        let shown = self
            .recalled
            .as_ref()
            .map_or(self.remembered.len(), |(at, _)| *at);
        if shown > 0 {
            let typed = self
                .recalled
                .take()
                .map_or_else(|| self.text.clone(), |(_, it)| it);
            self.set(self.remembered[shown - 1].clone());
            self.recalled = Some((shown - 1, typed));
        }
    }

    /// One line down, or the text that was typed after.
    pub fn down(&mut self) {
        let end = self.line_end();
        if end < self.text.len() {
            let column = self.text[self.line_start()..self.cursor].chars().count();
            self.move_to_column(end + 1, column);
            return;
        }
        if let Some((shown, typed)) = self.recalled.take() {
            match self.remembered.get(shown + 1).cloned() {
                Some(text) => {
                    self.set(text);
                    self.recalled = Some((shown + 1, typed));
                }
                None => self.set(typed),
            }
        }
    }

    fn move_to_column(&mut self, start: usize, column: usize) {
        self.cursor = start;
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        self.cursor += line.chars().take(column).map(char::len_utf8).sum::<usize>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_edited_where_the_cursor_is() {
        let mut edit = Edit::default();
        edit.insert("héllo wörld\nsecond");
        edit.up();
        edit.backspace();
        assert_eq!(edit.text(), "héllowörld\nsecond");
    }

    #[test]
    fn what_was_typed_before_comes_back_and_nothing_is_lost() {
        let mut edit = Edit::default();
        for text in ["one", "two"] {
            edit.insert(text);
            edit.take();
        }
        edit.insert("draft");
        edit.up();
        edit.up();
        edit.up();
        assert_eq!(edit.text(), "one");
        edit.down();
        assert_eq!(edit.text(), "two");
        edit.down();
        assert_eq!(edit.text(), "draft");
    }

    #[test]
    fn words_and_lines_are_deleted() {
        let mut edit = Edit::default();
        edit.insert("one two  three");
        edit.delete_word();
        assert_eq!(edit.text(), "one two  ");
        edit.delete_to_start();
        assert!(edit.is_empty());
    }
}
