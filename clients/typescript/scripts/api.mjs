// Writes API.md, the reference of the package, from the doc comments of what it exports. With `--check` it only
// compares. It reads the sources with the compiler that the package is built with.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const directory = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(directory, "API.md");

const { config } = ts.readConfigFile(join(directory, "tsconfig.json"), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, include: ["src"] }, ts.sys, directory);
const entries = ["index.ts", "websocket.ts"].map((name) => join(directory, "src", name));
const program = ts.createProgram(entries, options);
const checker = program.getTypeChecker();

const exported = (entry) => checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)));
const resolved = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);

const doc = (symbol) => ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
const line = (text) => text.replaceAll(/\s+/g, " ").trim();
const cell = (text) => line(text).replaceAll("|", "\\|");
const code = (text) => `\`${cell(text).replaceAll("`", "'")}\``;

const isPublic = (symbol) => {
  const [declaration] = symbol.declarations ?? [];
  if (!declaration || symbol.name.startsWith("#")) return false;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (ts.getCombinedModifierFlags(declaration) & hidden) === 0 && !ts.isPrivateIdentifier(declaration.name ?? {});
};

/** A member as it is declared, without its body. */
const signatures = (symbol) => {
  const overloads = symbol.declarations.filter((it) => !it.body || symbol.declarations.length === 1);
  return overloads.map((declaration) => {
    const text = declaration.getText();
    if (ts.isMethodDeclaration(declaration) || ts.isMethodSignature(declaration)) {
      const { parameters, type } = declaration;
      const generics = declaration.typeParameters ? `<${declaration.typeParameters.map((it) => it.getText()).join(", ")}>` : "";
      const args = parameters.map((it) => {
        const given = it.type?.getText() ?? checker.typeToString(checker.getTypeAtLocation(it));
        return `${it.name.getText()}${it.questionToken || it.initializer ? "?" : ""}: ${given}`;
      });
      return `${declaration.name.getText()}${declaration.questionToken ? "?" : ""}${generics}(${args.join(", ")}): ${type?.getText() ?? "void"}`;
    }
    if (ts.isGetAccessor(declaration)) return `${declaration.name.getText()}: ${declaration.type?.getText() ?? ""}`;
    return text.replace(/\s*=[^>].*$/s, "").replace(/^(override |readonly |declare )+/, "").replace(/;$/, "");
  });
};

const table = (members) => {
  const rows = members.filter(isPublic).flatMap((member) => signatures(member).map((it) => `| ${code(it)} | ${cell(doc(member))} |`));
  return rows.length === 0 ? "" : `\n| | |\n|---|---|\n${rows.join("\n")}\n`;
};

const membersOf = (symbol) => [...(symbol.members?.values() ?? [])].filter((it) => it.flags & ~ts.SymbolFlags.TypeParameter && it.name !== "__constructor");
const statics = (symbol) => [...(symbol.exports?.values() ?? [])].filter((it) => it.name !== "prototype");

/** A class, an interface, a type or a function under its own heading. */
const entry = (symbol, name) => {
  const [declaration] = symbol.declarations;
  const text = `\n### ${name}\n\n${line(doc(symbol))}\n`;
  if (ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration)) {
    const parents = (declaration.heritageClauses ?? []).flatMap((it) => it.types).map((it) => code(it.getText()));
    const head = parents.length > 0 ? `\nExtends ${parents.join(", ")}.\n` : "";
    return text + head + table(statics(symbol)) + table(membersOf(symbol));
  }
  if (ts.isFunctionDeclaration(declaration)) {
    const end = declaration.body ? declaration.body.getStart() : declaration.end;
    const source = declaration.getSourceFile().text.slice(declaration.getStart(), end).trim();
    return `${text}\n\`\`\`ts\n${source}\n\`\`\`\n`;
  }
  return `${text}\n\`\`\`ts\n${declaration.getText()}\n\`\`\`\n`;
};

const kindOf = (symbol) => {
  if (symbol.flags & ts.SymbolFlags.Class) return symbol.name.endsWith("Error") ? "Errors" : "Classes";
  if (symbol.flags & ts.SymbolFlags.Function) return "Functions";
  return "Types";
};

const [index, web] = entries.map(exported);
const own = index.filter((it) => it.name !== "default" && it.name !== "protocol");
const sections = new Map(["Classes", "Functions", "Errors", "Types"].map((kind) => [kind, ""]));
for (const symbol of own) {
  const target = resolved(symbol);
  const kind = kindOf(target);
  sections.set(kind, sections.get(kind) + entry(target, symbol.name));
}
const baseClass = (name) => program.getSourceFiles().flatMap((file) => (file.fileName.startsWith(directory) ? file.statements : []))
  .find((it) => (ts.isClassDeclaration(it) || ts.isInterfaceDeclaration(it)) && it.name?.text === name);
const generated = checker.getSymbolAtLocation(baseClass("Methods").name);
const requests = membersOf(generated)
  .filter((it) => it.name !== "request")
  .map((it) => `| ${code(signatures(it)[0])} | \`${/request\("([^"]+)"/.exec(it.declarations[0].getText())[1]}\` |`);
const emitter = checker.getSymbolAtLocation(baseClass("TypedEmitter").name);
const webNames = new Set(web.map((it) => it.name));
const nodeOnly = own.filter((it) => !webNames.has(it.name)).map((it) => `\`${it.name}\``);

const text = `# API reference

Generated from the doc comments by \`npm run docs\`. \`@quipu/client\` exports all of this, and \`CodexClient\` also as its default;
\`@quipu/client/websocket\`, for browsers, exports the same without ${nodeOnly.join(" and ")}. The
namespace \`protocol\` has the types of every message; the protocol's own reference explains them.
${[...sections].map(([kind, body]) => `\n## ${kind}\n${body}`).join("")}
## Events

Every client is an \`EventEmitter\` with these methods; \`ClientEvents\` lists the events.
${table(membersOf(emitter))}
## Requests of the protocol

Every client has a method for each request. The protocol's own reference explains them.

| method | request |
|---|---|
${requests.join("\n")}
`;

if (!process.argv.includes("--check")) writeFileSync(page, text);
else if (readFileSync(page, "utf8") !== text) {
  process.stderr.write("API.md is stale; run `npm run docs`\n");
  process.exit(1);
}
