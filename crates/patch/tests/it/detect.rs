//! Which commands are patches: the forms that the reference was seen to take for one, and those it
//! was not.

use std::path::PathBuf;

use quipu_patch::{Call, detect};

const PATCH: &str = "*** Begin Patch\n*** Add File: n\n+1 $HOME `x`\n*** End Patch";

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn found(cd: Option<&str>) -> Option<Call> {
    Some(Call::Patch {
        text: format!("{PATCH}\n"),
        cd: cd.map(PathBuf::from),
    })
}

/// A script with the patch in place of `@`.
fn script(form: &str) -> Option<Call> {
    detect(&argv(&["bash", "-lc", &form.replace('@', PATCH)]))
}

#[test]
fn argv_forms() {
    let text = |text: &str| {
        Some(Call::Patch {
            text: text.to_owned(),
            cd: None,
        })
    };
    assert_eq!(detect(&argv(&["apply_patch", PATCH])), text(PATCH));
    assert_eq!(detect(&argv(&["applypatch", "garbage"])), text("garbage"));
    assert_eq!(detect(&argv(&[PATCH])), Some(Call::Bare));
    assert_eq!(detect(&argv(&["bash", "-lc", PATCH])), Some(Call::Bare));
    for words in [
        &[][..],
        &["apply_patch"],
        &["apply_patch", PATCH, "x"],
        &["/bin/apply_patch", PATCH],
    ] {
        assert_eq!(detect(&argv(words)), None, "{words:?}");
    }
}

#[test]
fn shells() {
    let here = format!("apply_patch <<'EOF'\n{PATCH}\nEOF");
    for shell in [
        &["bash", "-lc"][..],
        &["bash", "-c"],
        &["/bin/bash", "-lc"],
        &["/usr/bin/zsh", "-c"],
        &["sh", "-lc"],
        &["bash.exe", "-lc"],
        &["powershell", "-Command"],
        &["pwsh", "-NoProfile", "-Command"],
        &["cmd", "/c"],
    ] {
        assert_eq!(
            detect(&argv(&[shell, &[&here]].concat())),
            found(None),
            "{shell:?}"
        );
    }
    for shell in [
        &["dash", "-lc"][..],
        &["fish", "-c"],
        &["bash", "-l", "-c"],
        &["bash", "-ic"],
        &["bash"],
    ] {
        assert_eq!(
            detect(&argv(&[shell, &[&here]].concat())),
            None,
            "{shell:?}"
        );
    }
    assert_eq!(detect(&argv(&["bash", "-lc", &here, "x"])), None);
}

#[test]
fn scripts_that_are_patches() {
    for form in [
        "apply_patch <<'EOF'\n@\nEOF",
        "apply_patch <<'EOF'\n@\nEOF\n",
        "apply_patch <<'EOF'\n@\nEOF\n   \n",
        "\n  applypatch <<EOF\n@\nEOF",
        "apply_patch<<\"EOF\"\n@\nEOF",
        "apply_patch <<\\EOF\n@\nEOF",
        "apply_patch <<-EOF\n@\n\t\tEOF",
        "apply_patch << 'PATCH'\n@\nPATCH",
        "apply_patch <<'E OF'\n@\nE OF",
        "apply_patch - <<'EOF'\n@\nEOF",
        "FOO=1 apply_patch <<'EOF'\n@\nEOF",
    ] {
        assert_eq!(script(form), found(None), "{form}");
    }
}

#[test]
fn scripts_that_change_directory_first() {
    for (form, cd) in [
        ("cd sub && apply_patch <<'EOF'\n@\nEOF", "sub"),
        ("cd 'a b' && apply_patch <<'EOF'\n@\nEOF", "a b"),
        ("cd \"a b\" && apply_patch <<'EOF'\n@\nEOF", "a b"),
        ("cd a\\ b && apply_patch <<'EOF'\n@\nEOF", "a b"),
        ("cd 'sub'x && apply_patch <<'EOF'\n@\nEOF", "subx"),
        ("cd ../x &&\napply_patch <<'EOF'\n@\nEOF", "../x"),
        ("cd /abs \\\n && FOO=1 apply_patch <<'EOF'\n@\nEOF", "/abs"),
    ] {
        assert_eq!(script(form), found(Some(cd)), "{form}");
    }
}

#[test]
fn scripts_that_do_more_or_need_a_shell() {
    for form in [
        "apply_patch <<'EOF'\n@\nEOF\necho b",
        "apply_patch -v <<'EOF'\n@\nEOF",
        "apply_patch x <<'EOF'\n@\nEOF",
        "apply_patch <<'EOF'\n@\nEOF && echo b",
        "apply_patch <<'EOF'\n@\nNOPE",
        "apply_patch <<'EOF' && echo x\n@\nEOF",
        "apply_patch <<'EOF' 2>&1\n@\nEOF",
        "apply_patch <<'EOF' | cat\n@\nEOF",
        "apply_patch <<'EOF';\n@\nEOF",
        "apply_patch <<'EOF' &\n@\nEOF",
        "apply_patch <<'EOF' <<'X'\n@\nEOF\nX",
        "apply_patch <<''\n@\n\n",
        "apply_patch <<< '@'",
        "apply_patch '@'",
        "apply_patch \"@\"",
        "cat <<'EOF' | apply_patch\n@\nEOF",
        "echo '@' | apply_patch",
        "(apply_patch <<'EOF'\n@\nEOF\n)",
        "! apply_patch <<'EOF'\n@\nEOF",
        "time apply_patch <<'EOF'\n@\nEOF",
        "set -e; apply_patch <<'EOF'\n@\nEOF",
        "# hi\napply_patch <<'EOF'\n@\nEOF",
        "<<'EOF' apply_patch\n@\nEOF",
        "echo a && apply_patch <<'EOF'\n@\nEOF",
        "cd sub; apply_patch <<'EOF'\n@\nEOF",
        "cd sub || apply_patch <<'EOF'\n@\nEOF",
        "cd sub\napply_patch <<'EOF'\n@\nEOF",
        "cd sub && cd .. && apply_patch <<'EOF'\n@\nEOF",
        "cd sub > /dev/null && apply_patch <<'EOF'\n@\nEOF",
        "cd && apply_patch <<'EOF'\n@\nEOF",
        "cd a b && apply_patch <<'EOF'\n@\nEOF",
        "cd -- sub && apply_patch <<'EOF'\n@\nEOF",
        "cd - && apply_patch <<'EOF'\n@\nEOF",
        "cd ~ && apply_patch <<'EOF'\n@\nEOF",
        "cd $PWD/sub && apply_patch <<'EOF'\n@\nEOF",
        "cd \"$PWD/sub\" && apply_patch <<'EOF'\n@\nEOF",
        "cd $(pwd) && apply_patch <<'EOF'\n@\nEOF",
        "cd 'unclosed && apply_patch <<EOF\n@\nEOF",
        "apply_patch",
        "apply_patch \\",
        "",
    ] {
        assert_eq!(script(form), None, "{form}");
    }
}
