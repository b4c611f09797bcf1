//! What a key means.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key as the chat understands it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Letter(char),
    Enter,
    NewLine,
    Tab,
    Escape,
    Interrupt,
    EndOfInput,
    Backspace,
    Delete,
    DeleteWord,
    DeleteToStart,
    DeleteToEnd,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
}

pub fn of(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let alt = event.modifiers.contains(KeyModifiers::ALT);
    let shift = event.modifiers.contains(KeyModifiers::SHIFT);
    Some(match event.code {
        KeyCode::Char(letter) if control => match letter.to_ascii_lowercase() {
            'c' => Key::Interrupt,
            'd' => Key::EndOfInput,
            'a' => Key::Home,
            'e' => Key::End,
            'u' => Key::DeleteToStart,
            'k' => Key::DeleteToEnd,
            'w' => Key::DeleteWord,
            'j' => Key::NewLine,
            'p' => Key::Up,
            'n' => Key::Down,
            'b' => Key::Left,
            'f' => Key::Right,
            'h' => Key::Backspace,
            _ => return None,
        },
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Enter if alt || shift => Key::NewLine,
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace if alt || control => Key::DeleteWord,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
