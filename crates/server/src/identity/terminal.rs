//! Which terminal program this process was started in, as far as the environment tells.

use quipu_config::Env;

/// Variables that only one program sets, and whether their value is its version.
const MARKS: &[(&str, &str, bool)] = &[
    ("WEZTERM_VERSION", "WezTerm", true),
    ("ITERM_SESSION_ID", "iTerm.app", false),
    ("TERM_SESSION_ID", "Apple_Terminal", false),
    ("KITTY_WINDOW_ID", "kitty", false),
    ("ALACRITTY_SOCKET", "Alacritty", false),
    ("KONSOLE_VERSION", "Konsole", true),
    ("GNOME_TERMINAL_SCREEN", "gnome-terminal", false),
    ("VTE_VERSION", "VTE", true),
    ("WT_SESSION", "WindowsTerminal", false),
];

/// `<program>` or `<program>/<version>`, in characters that are safe in a header.
pub(super) fn token(env: &Env) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    program(env)
        .chars()
        .map(|c| if safe(c) { c } else { '_' })
        .collect()
}

fn program(env: &Env) -> String {
    let said = |name: &str| {
        env.get(name)
            .map(str::trim)
            .filter(|value| !value.is_empty())
    };
    let versioned = |program: &str, variable: &str| match said(variable) {
        Some(version) => format!("{program}/{version}"),
        None => program.to_owned(),
    };
    if let Some(program) = said("TERM_PROGRAM") {
        return versioned(program, "TERM_PROGRAM_VERSION");
    }
    let term = said("TERM").unwrap_or("unknown");
    for (variable, program, has_version) in MARKS {
        let set = env.vars().any(|(name, _)| name == *variable);
        let named_by_term = match *program {
            "kitty" => term.contains("kitty"),
            "Alacritty" => term.eq_ignore_ascii_case("alacritty"),
            _ => false,
        };
        if set && *has_version {
            return versioned(program, variable);
        }
        if set || named_by_term {
            return (*program).to_owned();
        }
    }
    term.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these is what the official server puts into its user agent.
    #[test]
    fn terminals_are_distinguished() {
        for (vars, expected) in [
            (&[][..], "unknown"),
            (&[("TERM", "")], "unknown"),
            (&[("TERM", "xterm-256color")], "xterm-256color"),
            (&[("TERM", "a:b;é")], "a_b__"),
            (&[("TERM", "alacritty")], "Alacritty"),
            (
                &[("TERM", "xterm-kitty"), ("ALACRITTY_SOCKET", "1")],
                "kitty",
            ),
            (&[("TERM", "x"), ("ITERM_SESSION_ID", "")], "iTerm.app"),
            (
                &[("TERM_PROGRAM", "vscode"), ("VTE_VERSION", "1")],
                "vscode",
            ),
            (
                &[("TERM_PROGRAM", "a b"), ("TERM_PROGRAM_VERSION", "1+2")],
                "a_b/1_2",
            ),
            (&[("TERM_PROGRAM", " ")], "unknown"),
            (&[("VTE_VERSION", "7200"), ("TERM", "xterm")], "VTE/7200"),
            (&[("KONSOLE_VERSION", " ")], "Konsole"),
            (
                &[("KONSOLE_VERSION", "3"), ("WEZTERM_VERSION", "2")],
                "WezTerm/2",
            ),
        ] {
            let env = Env::new(vars.iter().copied(), "/");
            assert_eq!(token(&env), expected, "{vars:?}");
        }
    }
}
