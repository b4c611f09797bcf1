//! Paths as paginated rollouts write some of them.

const FILE: &str = "file://";

/// An absolute path as a `file:` address; anything else stays as it is.
pub(super) fn file_address(path: &str) -> String {
    let drive = path.as_bytes().get(1) == Some(&b':');
    if !path.starts_with('/') && !drive {
        return path.to_owned();
    }
    let mut address = format!("{FILE}{}", if drive { "/" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'\\' if drive => address.push('/'),
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b'+'
            | b','
            | b'='
            | b'@'
            | b':' => address.push(char::from(byte)),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// The path that a `file:` address names; anything else stays as it is.
pub(super) fn file_path(address: String) -> String {
    let Some(encoded) = address.strip_prefix(FILE) else {
        return address;
    };
    let mut path = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                path.push(byte);
                rest = &tail[2..];
            }
            None => {
                path.push(*first);
                rest = tail;
            }
        }
    }
    let path = String::from_utf8_lossy(&path).into_owned();
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => path[1..].to_owned(),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_as_addresses() {
        for path in ["/", "/a b/ü%20#?", "C:\\x\\y", "relative", ""] {
            let address = file_address(path);
            assert_eq!(file_path(address), path.replace('\\', "/"), "{path}");
        }
        assert_eq!(file_address("/a b"), "file:///a%20b");
        assert_eq!(file_path("file:///a%2".into()), "/a%2");
    }
}
