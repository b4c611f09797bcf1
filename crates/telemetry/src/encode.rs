//! The two forms of OTLP from one description of a message: protocol buffers, and their JSON.

use serde_json::{Map, Value as Json};

/// A message: its fields with number and JSON name. Fields with empty values are left out, as both forms allow.
#[derive(Debug, Default)]
pub(crate) struct Message(Vec<(u32, &'static str, Field)>);

/// The value of a field.
#[derive(Debug)]
pub(crate) enum Field {
    Text(String),
    /// Bytes; in JSON as hexadecimal digits, which is how OTLP writes ids.
    Id(Vec<u8>),
    Bool(bool),
    /// A number of variable length; JSON has such numbers as text.
    Int(i64),
    Enum(i32),
    Fixed(u64),
    Double(f64),
    One(Message),
    Many(Vec<Message>),
    ManyFixed(Vec<u64>),
    ManyDouble(Vec<f64>),
}

impl Message {
    pub(crate) fn with(mut self, number: u32, name: &'static str, field: Field) -> Message {
        self.0.push((number, name, field));
        self
    }

    pub(crate) fn to_json(&self) -> Json {
        let fields = self.0.iter();
        let members: Map<String, Json> = fields
            .map(|(_, name, field)| ((*name).to_owned(), field.to_json()))
            .collect();
        members.into()
    }

    pub(crate) fn to_binary(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, _, field) in &self.0 {
            field.write(*number, &mut out);
        }
        out
    }
}

impl Field {
    fn to_json(&self) -> Json {
        match self {
            Field::Text(text) => text.as_str().into(),
            Field::Id(bytes) => hexadecimal(bytes).into(),
            Field::Bool(flag) => (*flag).into(),
            Field::Int(number) => number.to_string().into(),
            Field::Enum(number) => (*number).into(),
            Field::Fixed(number) => number.to_string().into(),
            Field::Double(number) => (*number).into(),
            Field::One(message) => message.to_json(),
            Field::Many(messages) => messages.iter().map(Message::to_json).collect(),
            Field::ManyFixed(numbers) => numbers.iter().map(u64::to_string).collect(),
            Field::ManyDouble(numbers) => numbers.iter().copied().collect(),
        }
    }

    fn write(&self, number: u32, out: &mut Vec<u8>) {
        match self {
            Field::Text(text) => bytes(number, text.as_bytes(), out),
            Field::Id(id) => bytes(number, id, out),
            Field::Bool(flag) => int(number, u64::from(*flag), out),
            Field::Int(value) => int(number, value.cast_unsigned(), out),
            Field::Enum(value) => int(number, i64::from(*value).cast_unsigned(), out),
            Field::Fixed(value) => fixed(number, value.to_le_bytes(), out),
            Field::Double(value) => fixed(number, value.to_le_bytes(), out),
            Field::One(message) => bytes(number, &message.to_binary(), out),
            Field::Many(messages) => {
                for message in messages {
                    bytes(number, &message.to_binary(), out);
                }
            }
            Field::ManyFixed(values) => {
                let packed: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
                bytes(number, &packed, out);
            }
            Field::ManyDouble(values) => {
                let packed: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
                bytes(number, &packed, out);
            }
        }
    }
}

fn int(number: u32, value: u64, out: &mut Vec<u8>) {
    varint(u64::from(number) << 3, out);
    varint(value, out);
}

fn fixed(number: u32, value: [u8; 8], out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | 1, out);
    out.extend_from_slice(&value);
}

fn bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes are those of the examples in the description of the encoding.
    #[test]
    fn both_forms_say_the_same() {
        let message = Message::default()
            .with(1, "int", Field::Int(150))
            .with(2, "text", Field::Text("testing".to_owned()))
            .with(
                3,
                "one",
                Field::One(Message::default().with(1, "int", Field::Int(150))),
            )
            .with(4, "fixed", Field::Fixed(1))
            .with(5, "id", Field::Id(vec![0xab, 1]))
            .with(6, "counts", Field::ManyFixed(vec![2]));
        assert_eq!(
            message.to_binary(),
            [
                &[0x08, 0x96, 0x01][..],
                &[0x12, 0x07],
                b"testing",
                &[0x1a, 0x03, 0x08, 0x96, 0x01],
                &[0x21, 1, 0, 0, 0, 0, 0, 0, 0],
                &[0x2a, 0x02, 0xab, 0x01],
                &[0x32, 0x08, 2, 0, 0, 0, 0, 0, 0, 0],
            ]
            .concat()
        );
        assert_eq!(
            message.to_json().to_string(),
            r#"{"counts":["2"],"fixed":"1","id":"ab01","int":"150","one":{"int":"150"},"text":"testing"}"#
        );
        let negative = Message::default().with(1, "int", Field::Int(-1));
        assert_eq!(negative.to_binary().len(), 11);
    }
}
