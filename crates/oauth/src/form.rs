//! Names and values as queries and form bodies carry them.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

/// All but what RFC 3986 leaves unreserved.
const RESERVED: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Names and values in the form of a query or a form body.
pub fn encode(pairs: &[(&str, &str)]) -> String {
    let escape = |text| percent_encoding::utf8_percent_encode(text, RESERVED);
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// What a query holds. Of a name that is given twice the last value counts.
pub fn decode(query: &str) -> HashMap<String, String> {
    let text = |raw: &str| {
        let spaced = raw.replace('+', " ");
        percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (text(name), text(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let pairs = [("a b", "1+2=3&4"), ("ü", "")];
        let decoded = decode(&encode(&pairs));
        assert_eq!(decoded.len(), pairs.len());
        for (name, value) in pairs {
            assert_eq!(decoded[name], value);
        }
        assert_eq!(decode("x=1&&x=2+3&y")["x"], "2 3");
    }
}
