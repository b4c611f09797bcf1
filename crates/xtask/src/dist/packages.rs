//! The packages of a release. Their texts are templates in `dist/`, in which `@VERSION@` and the like are replaced.

use std::path::{Path, PathBuf};

use super::tools::{files, fresh, output, place, read, run, settle, write};
use super::{Release, Target};
use crate::Outcome;

/// A program for one target, and what goes with it.
pub struct Package<'a> {
    pub release: &'a Release<'a>,
    pub target: Target,
    pub program: &'a Path,
    /// Manual pages and completions.
    pub documents: &'a Path,
}

impl Package<'_> {
    /// A directory for the content of a package.
    fn work(&self, kind: &str) -> Outcome<PathBuf> {
        let directory = self
            .release
            .out
            .join("work")
            .join(kind)
            .join(self.target.triple);
        fresh(&directory)?;
        Ok(directory)
    }

    /// Program, licence, manual pages and completions; returns the archive.
    pub fn archive(&self) -> Outcome<PathBuf> {
        let Release {
            root,
            out,
            version,
            epoch,
        } = self.release;
        let work = self.work("archive")?;
        let name = format!("quipu-{version}-{}", self.target.triple);
        let content = work.join(&name);
        place(self.program, &content.join("quipu"), 0o755)?;
        for file in ["LICENSE", "README.md", "CHANGELOG.md"] {
            place(&root.join(file), &content.join(file), 0o644)?;
        }
        self.documents(&content.join("man"), &content.join("completions"))?;
        let archive = out.join(format!("{name}.tar.gz"));
        tarball(&work, &name, epoch, &archive)?;
        Ok(archive)
    }

    fn documents(&self, man: &Path, completions: &Path) -> Outcome {
        for page in files(&self.documents.join("man"))? {
            place(
                &self.documents.join("man").join(&page),
                &man.join(&page),
                0o644,
            )?;
        }
        for shell in ["bash", "zsh", "fish", "powershell"] {
            let from = self.documents.join("completions").join(shell);
            for file in files(&from)? {
                place(&from.join(&file), &completions.join(&file), 0o644)?;
            }
        }
        Ok(())
    }

    pub fn debian(&self) -> Outcome {
        let Release {
            root,
            out,
            version,
            epoch,
        } = self.release;
        let work = self.work("debian")?;
        place(self.program, &work.join("usr/bin/quipu"), 0o755)?;
        for page in files(&self.documents.join("man"))? {
            let to = work.join("usr/share/man/man1").join(&page);
            place(&self.documents.join("man").join(&page), &to, 0o644)?;
            run(&work, "gzip", &["-9n", &to.to_string_lossy()], &[])?;
        }
        for (shell, file, to) in [
            (
                "bash",
                "quipu",
                "usr/share/bash-completion/completions/quipu",
            ),
            ("zsh", "_quipu", "usr/share/zsh/vendor-completions/_quipu"),
            (
                "fish",
                "quipu.fish",
                "usr/share/fish/vendor_completions.d/quipu.fish",
            ),
        ] {
            let from = self.documents.join("completions").join(shell).join(file);
            place(&from, &work.join(to), 0o644)?;
        }
        for unit in ["quipu.service", "quipu.socket"] {
            place(
                &root.join("dist/systemd").join(unit),
                &work.join("usr/lib/systemd/system").join(unit),
                0o644,
            )?;
        }
        for (from, to, mode) in [
            ("LICENSE", "usr/share/doc/quipu/copyright", 0o644),
            (
                "dist/systemd/quipu.sysusers",
                "usr/lib/sysusers.d/quipu.conf",
                0o644,
            ),
            ("dist/debian/postinst", "DEBIAN/postinst", 0o755),
            ("dist/debian/prerm", "DEBIAN/prerm", 0o755),
        ] {
            place(&root.join(from), &work.join(to), mode)?;
        }
        let control = read(&root.join("dist/debian/control.in"))?;
        write(
            &work.join("DEBIAN/control"),
            &fill(&control, version, &[("ARCH", self.target.debian)]),
        )?;
        settle(&work)?;
        let package = out.join(format!("quipu_{version}_{}.deb", self.target.debian));
        let (from, to) = (work.to_string_lossy(), package.to_string_lossy());
        let args = ["--build", "--root-owner-group", "-Zgzip", &from, &to];
        run(root, "dpkg-deb", &args, &[("SOURCE_DATE_EPOCH", epoch)])
    }

    /// The npm package with the program for this machine, which the launcher depends on.
    pub fn npm(&self) -> Outcome {
        let Release {
            root, out, version, ..
        } = self.release;
        let work = self.work("npm")?;
        place(self.program, &work.join("bin/quipu"), 0o755)?;
        place(&root.join("LICENSE"), &work.join("LICENSE"), 0o644)?;
        let manifest = read(&root.join("dist/npm/platform.json.in"))?;
        write(
            &work.join("package.json"),
            &fill(&manifest, version, &[("CPU", self.target.npm)]),
        )?;
        pack(&work, out)
    }

    pub fn wheel(&self) -> Outcome {
        let Release {
            root,
            out,
            version,
            epoch,
        } = self.release;
        let script = root.join("dist/pypi/wheel.py");
        let (script, program) = (script.to_string_lossy(), self.program.to_string_lossy());
        let out = out.to_string_lossy();
        let args = [&*script, version, self.target.wheel, &program, &out];
        run(root, "python3", &args, &[("SOURCE_DATE_EPOCH", epoch)])
    }
}

/// The npm package that people install: it starts the program of the package for their machine.
pub fn npm_launcher(release: &Release) -> Outcome {
    let Release {
        root, out, version, ..
    } = release;
    let work = out.join("work/npm/launcher");
    fresh(&work)?;
    for file in ["launch.js", "index.js", "index.d.ts", "README.md"] {
        place(&root.join("dist/npm").join(file), &work.join(file), 0o644)?;
    }
    place(&root.join("LICENSE"), &work.join("LICENSE"), 0o644)?;
    let manifest = read(&root.join("dist/npm/package.json.in"))?;
    write(&work.join("package.json"), &fill(&manifest, version, &[]))?;
    pack(&work, out)
}

fn pack(package: &Path, out: &Path) -> Outcome {
    settle(package)?;
    let out = out.to_string_lossy();
    run(
        package,
        "npm",
        &["pack", "--silent", "--pack-destination", &out],
        &[],
    )
}

/// Names where releases are published, for the formula.
const REPOSITORY: &str = "QUIPU_REPOSITORY";

/// The Homebrew formula, which names the archives by their checksums.
pub fn formula(release: &Release, archives: &[(Target, PathBuf)]) -> Outcome {
    let template = read(&release.root.join("dist/homebrew/quipu.rb.in"))?;
    let repository = std::env::var(REPOSITORY).unwrap_or_else(|_| {
        println!("{REPOSITORY} is not set; the formula names no real address");
        "https://example.com/quipu".to_owned()
    });
    let values = [("REPOSITORY", repository.as_str())];
    let mut formula = fill(&template, &release.version, &values);
    for (target, archive) in archives {
        let key = format!("@SHA256_{}@", target.wheel.to_uppercase());
        formula = formula.replace(&key, &checksum(archive)?);
    }
    write(&release.out.join("quipu.rb"), &formula)
}

/// What the program is made of, as an SPDX document: every crate with its version and licence.
pub fn bill_of_materials(release: &Release) -> Outcome {
    let Release {
        root,
        out,
        version,
        epoch,
    } = release;
    let args = [
        "tree",
        "--locked",
        "--package",
        "quipu-cli",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--no-dedupe",
        "--target",
        "x86_64-unknown-linux-musl",
        "--format",
        "{p}\t{l}",
    ];
    let tree = output(root, "cargo", &args)?;
    let mut crates: Vec<&str> = tree.lines().collect();
    crates.sort_unstable();
    crates.dedup();
    let created = output(
        root,
        "date",
        &["-u", "-d", &format!("@{epoch}"), "+%Y-%m-%dT%H:%M:%SZ"],
    )?;
    let mut text = format!(
        "SPDXVersion: SPDX-2.3\nDataLicense: CC0-1.0\nSPDXID: SPDXRef-DOCUMENT\nDocumentName: quipu-{version}\n\
         DocumentNamespace: https://spdx.org/spdxdocs/quipu-{version}-{epoch}\nCreator: Tool: cargo-xtask-dist\n\
         Created: {created}\n"
    );
    for line in crates {
        let (package, licence) = line.split_once('\t').unwrap_or((line, ""));
        let mut parts = package.split(' ');
        let (name, version) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let version = version.trim_start_matches('v');
        let licence = match licence.trim() {
            "" => "NOASSERTION".to_owned(),
            licence => licence.replace('/', " OR "),
        };
        text += &format!(
            "\nPackageName: {name}\nSPDXID: SPDXRef-{name}-{version}\nPackageVersion: {version}\n\
             PackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\nPackageLicenseDeclared: {licence}\n\
             ExternalRef: PACKAGE-MANAGER purl pkg:cargo/{name}@{version}\n",
        );
    }
    write(&out.join(format!("quipu-{version}.spdx")), &text)
}

pub fn checksums(release: &Release) -> Outcome {
    let mut lines = String::new();
    for file in files(&release.out)? {
        lines += &format!("{}  {file}\n", checksum(&release.out.join(&file))?);
    }
    write(&release.out.join("SHA256SUMS"), &lines)
}

fn checksum(file: &Path) -> Outcome<String> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let line = output(directory, "sha256sum", &[&file.to_string_lossy()])?;
    let sum = line.split(' ').next().unwrap_or_default();
    Ok(sum.to_owned())
}

/// An archive whose bytes depend on its content alone.
fn tarball(directory: &Path, name: &str, epoch: &str, archive: &Path) -> Outcome {
    settle(&directory.join(name))?;
    let plain = directory.join("archive.tar").to_string_lossy().into_owned();
    let time = format!("--mtime=@{epoch}");
    let args = [
        "--create",
        "--file",
        &plain,
        "--sort=name",
        &time,
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--format=ustar",
        name,
    ];
    run(directory, "tar", &args, &[])?;
    run(directory, "gzip", &["-9n", &plain], &[])?;
    std::fs::rename(format!("{plain}.gz"), archive).map_err(|error| error.to_string())
}

/// Puts values in the places of a template.
fn fill(template: &str, version: &str, values: &[(&str, &str)]) -> String {
    let mut text = template.replace("@VERSION@", version);
    for (name, value) in values {
        text = text.replace(&format!("@{name}@"), value);
    }
    text
}
