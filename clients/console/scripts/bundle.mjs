// Bundles the page into crates/console/assets, and records the digest of what it was made from, so that
// `cargo xtask tidy` can tell without Node whether the bundle is current. With `--check` it only compares.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(dirname(here));
const assets = join(root, "crates/console/assets");

/** What the bundle is made from: the page, the client and the version of the bundler. */
const SOURCES = ["clients/console/src", "clients/console/static", "clients/typescript/src"];
const FILES = ["clients/console/package-lock.json", "clients/console/scripts/bundle.mjs"];

/** Not part of the bundle: tests, and types, which the bundler erases. */
const LEFT_OUT = ["__tests__", "protocol.ts"];

const listed = (directory) =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (LEFT_OUT.includes(entry.name)) return [];
    return entry.isDirectory() ? listed(path) : [path];
  });

/** A digest over paths and contents, in the order of the paths. `crates/xtask/src/console.rs` makes the same. */
const digest = () => {
  const files = [...SOURCES.flatMap((it) => listed(join(root, it))), ...FILES.map((it) => join(root, it))];
  const names = files.map((it) => relative(root, it).split(sep).join("/")).sort();
  const hash = createHash("sha256");
  for (const name of names) {
    const content = readFileSync(join(root, name));
    hash.update(`${name}\n${content.length}\n`).update(content);
  }
  return hash.digest("hex");
};

const bundled = async () => {
  const { outputFiles } = await build({
    entryPoints: { console: join(here, "src/main.ts") },
    alias: { "@quipu/client/websocket": join(root, "clients/typescript/src/websocket.ts") },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
    outdir: assets,
  });
  const {
    outputFiles: [style],
  } = await build({
    entryPoints: [join(here, "static/console.css")],
    minify: true,
    target: "es2022",
    charset: "utf8",
    write: false,
    outdir: assets,
  });
  const plain = (name) => readFileSync(join(here, "static", name), "utf8");
  return {
    "console.js": outputFiles[0].text,
    "console.css": style.text,
    "index.html": plain("index.html"),
    "icon.svg": plain("icon.svg"),
    "sources.sha256": `${digest()}\n`,
  };
};

const made = await bundled();
if (process.argv.includes("--check")) {
  const stale = Object.entries(made).filter(([name, text]) => {
    try {
      return readFileSync(join(assets, name), "utf8") !== text;
    } catch {
      return true;
    }
  });
  if (stale.length > 0) {
    process.stderr.write(`stale: ${stale.map(([name]) => name).join(", ")}; run \`cargo xtask codegen\`\n`);
    process.exit(1);
  }
} else {
  for (const [name, text] of Object.entries(made)) writeFileSync(join(assets, name), text);
  const sizes = Object.entries(made).map(([name, text]) => `${name} ${Buffer.byteLength(text)}`);
  process.stdout.write(`crates/console/assets: ${sizes.join(", ")} bytes\n`);
}
