//! Number literals of rules files, and the numbers that texts spell.

use super::lexer::{Cursor, Fault, Kind};

pub(super) const TOO_LARGE: &str = "this number is too large: it needs more than 127 bits";

const BASES: [(&str, u32); 6] = [
    ("0x", 16),
    ("0X", 16),
    ("0o", 8),
    ("0O", 8),
    ("0b", 2),
    ("0B", 2),
];

/// Reads a number if one starts here.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Option<Kind>, Fault> {
    let at = cursor.position();
    let starts = cursor.starts(|first, second| {
        let point = first == '.' && second.is_some_and(|c| c.is_ascii_digit());
        (point || first.is_ascii_digit()).then_some(())
    });
    if starts.is_none() {
        return Ok(None);
    }
    let base = BASES.into_iter().find(|(prefix, _)| cursor.take(prefix));
    let kind = match base {
        Some((_, base)) => {
            let digits = cursor.take_while(|c| c.is_digit(base));
            i128::from_str_radix(digits, base).ok().map(Kind::Number)
        }
        None => decimal(cursor),
    };
    let wrong = "this is not a number, or one that needs more than 127 bits";
    kind.map(Some).ok_or_else(|| Fault::new(at, wrong))
}

fn decimal(cursor: &mut Cursor<'_>) -> Option<Kind> {
    let digit = |c: char| c.is_ascii_digit();
    let whole = cursor.take_while(digit);
    let mut text = whole.to_owned();
    let mut float = false;
    if !cursor.at_start_of("...") && cursor.take(".") {
        float = true;
        text.push('.');
        text.push_str(cursor.take_while(digit));
    }
    let digits = cursor.ahead().strip_prefix(['e', 'E']);
    let digits = digits.map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    if digits.is_some_and(|digits| digits.starts_with(digit)) {
        float = true;
        text.extend(cursor.next());
        text.extend(cursor.next());
        text.push_str(cursor.take_while(digit));
    }
    if float {
        return text.parse().ok().map(Kind::Float);
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    whole.parse().ok().map(Kind::Number)
}

/// What `int(text, base)` gives; base 0 goes by the prefix.
pub(super) fn whole_number(text: &str, base: Option<u32>) -> Result<i128, String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let wanted = base.filter(|base| *base != 0);
    let prefixed = BASES.into_iter().find_map(|(prefix, means)| {
        let digits = unsigned.strip_prefix(prefix)?;
        (wanted.is_none() || wanted == Some(means)).then_some((digits, means))
    });
    let (digits, base) = prefixed.unwrap_or((unsigned, wanted.unwrap_or(10)));
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    let valid = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    if !valid {
        return Err(format!("{text:?} is not a whole number in base {base}"));
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    i128::from_str_radix(&format!("{sign}{digits}"), base).map_err(|_| TOO_LARGE.to_owned())
}

/// How a number with a fraction is written.
pub(super) fn shown(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        let sign = if number > 0.0 { '+' } else { '-' };
        return format!("{sign}inf");
    }
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-5..1e6).contains(&magnitude) {
        let text = scientific(number);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        return format!("{mantissa}e{exponent}");
    }
    let text = number.to_string();
    if text.contains('.') {
        text
    } else {
        text + ".0"
    }
}

/// Six places after the point, and an exponent of at least two digits.
pub(super) fn scientific(number: f64) -> String {
    if !number.is_finite() {
        return shown(number);
    }
    let text = format!("{number:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}
