//! Schemas of all kinds, those made to keep a checker busy among them.

use super::*;
use proptest::prelude::*;

fn check_str(schema: &str, text: &str) -> Result<(), String> {
    check(&RawValue::from_string(schema.into()).unwrap(), text)
}

#[test]
fn values_are_judged_by_each_keyword() {
    let cases = [
        (
            r#"{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}"#,
            r#"{"a":1}"#,
            r#"{"a":1.5}"#,
        ),
        (
            r#"{"type":"object","required":["a"]}"#,
            r#"{"a":null}"#,
            "{}",
        ),
        (
            r#"{"properties":{"a":{}},"additionalProperties":false}"#,
            r#"{"a":1}"#,
            r#"{"b":1}"#,
        ),
        (
            r#"{"additionalProperties":{"type":"string"}}"#,
            r#"{"b":"x"}"#,
            r#"{"b":1}"#,
        ),
        (r#"{"type":["string","null"]}"#, "null", "1"),
        (r#"{"enum":["a",2]}"#, "2", r#""b""#),
        (r#"{"const":{"x":1}}"#, r#"{"x":1}"#, r#"{"x":2}"#),
        (
            r#"{"items":{"type":"number","minimum":1},"maxItems":2}"#,
            "[1,2]",
            "[0]",
        ),
        (r#"{"maxItems":2}"#, "[1,2]", "[1,2,3]"),
        (
            r#"{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}"#,
            r#"["a",1]"#,
            r#"["a","b"]"#,
        ),
        (r#"{"uniqueItems":true}"#, "[1,2]", "[1,1]"),
        (r#"{"minLength":2,"maxLength":3}"#, r#""äö""#, r#""ä""#),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"number"}]}"#,
            "1",
            "null",
        ),
        (r#"{"oneOf":[{"minimum":1},{"maximum":1}]}"#, "2", "1"),
        (r#"{"allOf":[{"minimum":1},{"maximum":3}]}"#, "2", "4"),
        (r#"{"not":{"type":"string"}}"#, "1", r#""x""#),
        (r#"{"exclusiveMaximum":3,"multipleOf":0.5}"#, "2.5", "3"),
        (
            r##"{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}},"$ref":"#/$defs/n"}"##,
            r#"{"next":{"next":{}}}"#,
            r#"{"next":{"x":1}}"#,
        ),
        ("false", "", "1"),
    ];
    for (schema, good, bad) in cases {
        if !good.is_empty() {
            assert_eq!(check_str(schema, good), Ok(()), "{schema}");
        }
        assert!(
            check_str(schema, bad).is_err(),
            "{schema} should refuse {bad}"
        );
    }
}

#[test]
fn the_reason_names_the_place() {
    let schema = r#"{"properties":{"a":{"items":{"type":"string"}}}}"#;
    assert_eq!(
        check_str(schema, r#"{"a":["x",1]}"#).unwrap_err(),
        "$.a[1]: is not of type string"
    );
    assert!(
        check_str(schema, "Here you are: {}")
            .unwrap_err()
            .starts_with("the message is not JSON")
    );
}

#[test]
fn endless_references_end() {
    assert_eq!(check_str(r##"{"$ref":"#"}"##, "1"), Ok(()));
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(check_str(r##"{"items":{"$ref":"#"}}"##, &deep), Ok(()));
}

const TOO_MANY: &str =
    "checking it against the schema takes more than 2000000 steps; simplify the schema";

/// A schema of `levels` levels, each of which refers ten times to the next with a keyword.
fn multiplied(keyword: &str, levels: usize) -> String {
    let level = |n: usize| {
        let next = format!(r##"{{"$ref":"#/$defs/a{}"}}"##, n + 1);
        format!(r#""a{n}":{{"{keyword}":[{}]}}"#, vec![next; 10].join(","))
    };
    let levels: Vec<String> = (0..levels).map(level).collect();
    let last = format!(r#""a{}":{{"type":"string"}}"#, levels.len());
    format!(
        r##"{{"$ref":"#/$defs/a0","$defs":{{{},{last}}}}}"##,
        levels.join(",")
    )
}

#[test]
fn references_that_multiply_are_given_up() {
    assert_eq!(
        check_str(&multiplied("allOf", 12), r#""x""#).unwrap_err(),
        TOO_MANY
    );
    // Only what fails goes through all of the forms.
    assert_eq!(
        check_str(&multiplied("anyOf", 12), "1").unwrap_err(),
        TOO_MANY
    );
    assert_eq!(check_str(&multiplied("allOf", 4), r#""x""#), Ok(()));
    let forbidden = format!(r#"{{"not":{}}}"#, multiplied("allOf", 12)).replace("#/", "#/not/");
    assert_eq!(check_str(&forbidden, r#""x""#).unwrap_err(), TOO_MANY);
}

#[test]
fn every_keyword_that_looks_far_takes_steps() {
    let long = vec!["[0,[1,2]]"; 50_000].join(",");
    let words = vec![r#""aa""#; 50_000].join(",");
    let text = "x".repeat(1_000_000);
    let many = |schema: &str| format!(r#"{{"allOf":[{}]}}"#, vec![schema; 200].join(","));
    for (schema, message) in [
        (r##"{"$ref":"#/far"}"##, format!("[{long}]")),
        (r#"{"uniqueItems":true}"#, format!("[[{long}]]")),
        (r#"{"minLength":1}"#, format!("\"{text}\"")),
    ] {
        let far = format!(r#"{{"enum":[[{long},0],[{long}]]}}"#);
        let whole = many(schema).replacen('{', &format!(r#"{{"far":{far},"#), 1);
        assert_eq!(
            check_str(&whole, &message).unwrap_err(),
            TOO_MANY,
            "{schema}"
        );
    }
    let required = format!(r#"{{"required":[{words}]}}"#);
    let types = format!(r#"{{"type":[{words}]}}"#);
    for (schema, message) in [(required, r#"{"aa":1}"#), (types, "1")] {
        assert_eq!(check_str(&many(&schema), message).unwrap_err(), TOO_MANY);
    }
}

#[test]
fn a_large_answer_to_an_ordinary_schema_is_judged() {
    let numbers: Vec<String> = (0..200_000).map(|n| n.to_string()).collect();
    let numbers = numbers.join(",");
    let schema = r#"{"type":"array","uniqueItems":true,"items":{"type":"integer"}}"#;
    assert_eq!(check_str(schema, &format!("[{numbers}]")), Ok(()));
    assert_eq!(
        check_str(schema, &format!("[{numbers},7]")).unwrap_err(),
        "$: the items are not all different"
    );
}

proptest! {
    #[test]
    fn nothing_panics(schema in "[{}\\[\\]\":,a-z0-9$#/]{0,40}", text in ".{0,40}") {
        if let Ok(schema) = RawValue::from_string(schema) {
            drop(check(&schema, &text));
        }
    }
}
