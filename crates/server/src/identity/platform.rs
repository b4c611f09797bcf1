//! The operating system and processor, named as the official server names them.

/// `<os> <os version>; <arch>`
pub(super) fn describe() -> String {
    let system = match std::env::consts::OS {
        "windows" => "Windows Unknown".to_owned(),
        "macos" => mac_os(&read("/System/Library/CoreServices/SystemVersion.plist")),
        _ => system(&read("/etc/os-release")),
    };
    format!("{system}; {}", std::env::consts::ARCH)
}

fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// Names a macOS by its property list.
fn mac_os(list: &str) -> String {
    let version = list
        .split_once("<key>ProductVersion</key>")
        .and_then(|(_, rest)| rest.split_once("<string>"))
        .and_then(|(_, rest)| rest.split_once("</string>"))
        .map_or("Unknown", |(version, _)| version);
    let numbers = three_numbers(version);
    format!("Mac OS {}", numbers.unwrap_or_else(|| version.to_owned()))
}

/// Names a Linux system by its `os-release` file.
fn system(release: &str) -> String {
    let value = |key: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(key))?;
        Some(value.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
    };
    let name = match value("ID=").as_deref() {
        Some("debian") => "Debian".to_owned(),
        Some("fedora") => "Fedora".to_owned(),
        Some("centos") => "CentOS".to_owned(),
        Some("kali") => "Kali Linux".to_owned(),
        Some("ol") => "Oracle Linux".to_owned(),
        Some("amzn") => "Amazon Linux AMI".to_owned(),
        Some("opensuse-leap" | "opensuse-tumbleweed") => "openSUSE".to_owned(),
        Some("sles") => "SUSE Linux Enterprise Server".to_owned(),
        Some("raspbian") => "Raspberry Pi OS".to_owned(),
        Some("gentoo") => "Gentoo Linux".to_owned(),
        Some(_) => value("NAME=").unwrap_or_else(|| "Linux".to_owned()),
        None => "Linux".to_owned(),
    };
    let version = value("VERSION_ID=").unwrap_or_else(|| "Unknown".to_owned());
    format!("{name} {}", three_numbers(&version).unwrap_or(version))
}

/// Up to three numbers as exactly three, such as `24.4.0` for `24.04`.
fn three_numbers(version: &str) -> Option<String> {
    let mut numbers = [0_u64; 3];
    for (index, part) in version.split('.').enumerate() {
        *numbers.get_mut(index)? = part.parse().ok()?;
    }
    let [major, minor, patch] = numbers;
    Some(format!("{major}.{minor}.{patch}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these is what the official server makes of the same file.
    #[test]
    fn systems_are_named_by_their_release_file() {
        for (release, expected) in [
            (
                "NAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nID=ubuntu\n",
                "Ubuntu 24.4.0",
            ),
            (
                "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian",
                "Debian 12.0.0",
            ),
            ("ID=debian\nVERSION_ID=\"trixie/sid\"", "Debian trixie/sid"),
            ("ID=debian\nVERSION_ID=\"1.2.3.4\"", "Debian 1.2.3.4"),
            (
                "NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.19.1\n",
                "Alpine Linux 3.19.1",
            ),
            (
                "NAME=\"SLES\"\nID=\"sles\"\nVERSION_ID=\"15.5\"",
                "SUSE Linux Enterprise Server 15.5.0",
            ),
            ("", "Linux Unknown"),
        ] {
            assert_eq!(system(release), expected);
        }
        let list = "<key>ProductVersion</key>\n\t<string>14.5</string>\n";
        assert_eq!(mac_os(list), "Mac OS 14.5.0");
        assert_eq!(mac_os(""), "Mac OS Unknown");
    }
}
