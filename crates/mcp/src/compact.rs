//! JSON as it came, but without blanks.

/// JSON without the blanks between its parts; members keep their order.
#[must_use]
pub fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let keep = |c: &char| {
        if in_string {
            in_string = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return true;
        }
        in_string = *c == '"';
        !c.is_ascii_whitespace()
    };
    json.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_between_parts_go_and_those_in_texts_stay() {
        let json = "{ \"b\" : [1 , 2],\n\"a\": \"x \\\" y \\\\\" , \"c\": \" \" }";
        assert_eq!(
            compact(json),
            "{\"b\":[1,2],\"a\":\"x \\\" y \\\\\",\"c\":\" \"}"
        );
    }
}
