//! Server-sent events, as far as MCP uses them: data and ids.

/// One event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub data: Vec<u8>,
    /// Where to go on if the stream breaks off after this event.
    pub id: Option<String>,
}

/// Cuts a stream of bytes into events.
#[derive(Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    event: Event,
    size: usize,
}

/// An event was longer than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Events {
    /// Takes bytes; gives the events that are complete now.
    pub fn push(&mut self, bytes: &[u8], limit: usize) -> Result<Vec<Event>, TooLong> {
        let mut found = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.size += piece.len();
            if self.size > limit {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                if let Some(event) = self.field(line.trim_ascii_end()) {
                    found.push(event);
                }
            }
        }
        Ok(found)
    }

    /// Reads a line; an empty one ends the event.
    fn field(&mut self, line: &[u8]) -> Option<Event> {
        if line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.event);
            return (!event.data.is_empty() || event.id.is_some()).then_some(event);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"id" => self.event.id = String::from_utf8(value.to_vec()).ok(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_found_across_chunks() {
        let mut events = Events::default();
        assert_eq!(events.push(b": hi\r\nid: 7\nda", 100), Ok(vec![]));
        let found = events.push(b"ta: {\"a\":\ndata: 1}\n\nid: 8\n\n", 100);
        let expected = vec![
            Event {
                data: b"{\"a\":\n1}".to_vec(),
                id: Some("7".to_owned()),
            },
            Event {
                data: Vec::new(),
                id: Some("8".to_owned()),
            },
        ];
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn an_event_is_bounded_but_a_stream_is_not() {
        let mut events = Events::default();
        for _ in 0..100 {
            assert!(events.push(b"data: x\n\n", 20).is_ok());
        }
        assert_eq!(events.push(b"data: xxxxxxxxxxxxxxxxxxxx", 20), Err(TooLong));
    }
}
