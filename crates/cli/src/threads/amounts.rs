//! Ages and sizes, as people write and read them.

use std::time::Duration;

const DAY: u64 = 86_400;

/// An age: a number and a unit.
pub fn age(text: &str) -> Result<Duration, String> {
    let units = [("w", 7 * DAY), ("d", DAY), ("h", 3_600), ("m", 60)];
    let seconds = parse(text, &units);
    let seconds = seconds.ok_or("expected a number and a unit: w, d, h or m, as in `90d`")?;
    Ok(Duration::from_secs(seconds))
}

/// A size: a number and a unit.
pub fn size(text: &str) -> Result<u64, String> {
    let units = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("B", 1),
    ];
    let bytes = parse(text, &units);
    bytes.ok_or_else(|| {
        "expected a number and a unit: B, KiB, MiB, GiB or TiB, as in `5GiB`".to_owned()
    })
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    number.trim().parse::<u64>().ok()?.checked_mul(*factor)
}

/// A size in the largest unit of which there is one.
pub fn shown(bytes: u64) -> String {
    let units = [
        ("TiB", 1u64 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ];
    match units.iter().find(|(_, factor)| bytes >= *factor) {
        Some((unit, factor)) => {
            let tenths = bytes.saturating_mul(10) / factor;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_need_a_unit() {
        assert_eq!(age("90d"), Ok(Duration::from_secs(90 * DAY)));
        assert_eq!(age(" 2w"), Ok(Duration::from_secs(14 * DAY)));
        assert_eq!(size("5GiB"), Ok(5 << 30));
        assert_eq!(size("7 KiB"), Ok(7 << 10));
        assert_eq!(size("0B"), Ok(0));
        for bad in ["", "5", "d", "-1d", "1.5d", "99999999999999999999w"] {
            assert!(age(bad).is_err(), "{bad}");
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.5 KiB"),
            (5 << 30, "5.0 GiB"),
        ] {
            assert_eq!(shown(bytes), expected);
        }
    }
}
