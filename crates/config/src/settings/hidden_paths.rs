//! What sandboxed commands without network cannot read: where people and programs keep credentials.

use std::path::{Path, PathBuf};

use crate::snapshot::Snapshot;

/// The entry of the setting that stands for all of [`CREDENTIALS`].
const DEFAULT: &str = "default";

/// Files and directories with credentials, below the user's home directory. `docs/sandbox.md` lists them.
pub const CREDENTIALS: [&str; 57] = [
    // Keys to other machines, whose names are the user's choice.
    ".ssh",
    ".gnupg/private-keys-v1.d",
    ".gnupg/secring.gpg",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/op",
    ".config/Bitwarden CLI",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/rclone",
    ".oci",
    ".s3cfg",
    ".boto",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".fly",
    // Forges and registries.
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".huggingface/token",
    ".cache/huggingface/token",
    // Browsers.
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    // Other agents.
    ".codex/auth.json",
    ".codex/.credentials.json",
    ".claude/.credentials.json",
    ".claude.json",
    ".gemini/oauth_creds.json",
    ".config/github-copilot",
];

impl Snapshot {
    /// What sandboxed commands without network cannot read. Relative paths are below the user's home
    /// directory, and stand for nothing without one.
    pub fn hidden_paths(&self, user_home: Option<&Path>) -> Vec<PathBuf> {
        let given: Option<Vec<String>> = self.view().get("sandbox_hidden_paths");
        let given = given.unwrap_or_else(|| vec![DEFAULT.to_owned()]);
        let credentials = CREDENTIALS
            .iter()
            .filter(|_| given.iter().any(|it| it == DEFAULT));
        let own = given.iter().filter(|it| *it != DEFAULT);
        let all = credentials.copied().chain(own.map(String::as_str));
        let below_home = |path: &str| {
            let path = Path::new(path.strip_prefix("~/").unwrap_or(path));
            match user_home {
                Some(home) => Some(home.join(path)),
                None => path.is_absolute().then(|| path.to_owned()),
            }
        };
        all.filter_map(below_home).collect()
    }
}
