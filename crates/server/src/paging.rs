//! Pages of lists that are short enough to be made whole: the cursor is a number of entries.

use crate::Refusal;

/// One page of a list.
pub(crate) struct Page<T> {
    pub data: Vec<T>,
    pub next_cursor: Option<String>,
}

/// The page at `cursor`. A list without a limit is one page; `what` names the entries in errors.
pub(crate) fn page<T>(
    entries: Vec<T>,
    cursor: Option<&str>,
    limit: Option<u32>,
    what: &str,
) -> Result<Page<T>, Refusal> {
    let total = entries.len();
    let start = check_cursor(cursor)?;
    if start > total {
        let text = format!("cursor {start} exceeds total {what} {total}");
        return Err(Refusal::invalid_request(text));
    }
    let size = limit.map_or(total, |limit| limit.max(1) as usize);
    let end = start.saturating_add(size).min(total);
    Ok(Page {
        data: entries.into_iter().skip(start).take(end - start).collect(),
        next_cursor: (end < total).then(|| end.to_string()),
    })
}

/// Entries per page if a client asks for so many, for lists whose cursor is the last entry.
pub(crate) fn page_size(limit: Option<u32>) -> usize {
    limit.map_or(25, |limit| limit.clamp(1, 100)) as usize
}

/// The first page of what is left of a list, and its last entry if more follow.
pub(crate) fn after<T>(mut rest: Vec<T>, size: usize) -> (Vec<T>, Option<usize>) {
    let has_more = rest.len() > size;
    rest.truncate(size);
    let last = has_more.then(|| rest.len().saturating_sub(1));
    (rest, last)
}

/// Where a page begins, for lists that cost something to make.
pub(crate) fn check_cursor(cursor: Option<&str>) -> Result<usize, Refusal> {
    let invalid = |text: &str| Refusal::InvalidCursor(text.to_owned());
    cursor.map_or(Ok(0), |text| text.parse().map_err(|_| invalid(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(cursor: Option<&str>, limit: Option<u32>) -> Result<(Vec<u8>, Option<String>), String> {
        let page =
            page(vec![1, 2, 3], cursor, limit, "things").map_err(|error| error.to_string())?;
        Ok((page.data, page.next_cursor))
    }

    #[test]
    fn pages_follow_each_other() {
        assert_eq!(at(None, None), Ok((vec![1, 2, 3], None)));
        assert_eq!(at(None, Some(0)), Ok((vec![1], Some("1".to_owned()))));
        assert_eq!(at(Some("1"), Some(9)), Ok((vec![2, 3], None)));
        assert_eq!(at(Some("3"), None), Ok((vec![], None)));
    }

    #[test]
    fn cursors_that_lead_nowhere_are_refused() {
        assert_eq!(at(Some("-1"), None), Err("invalid cursor: -1".to_owned()));
        let text = "cursor 4 exceeds total things 3".to_owned();
        assert_eq!(at(Some("4"), None), Err(text));
    }
}
