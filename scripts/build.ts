/**
 * Builds the package: `dist/cli.cjs`, the client, a bundle that starts fast; `dist/*.js`, all other programs
 * and the library, with files that they share; `dist/web`, the dashboard; `dist/lib`, the types of the library. Fails when
 * something heavy has crept into the client.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import type { OutputChunk } from "rolldown";
import packageJson from "../package.json" with { type: "json" };
import { outputSchemaOf } from "../src/cli/output-schemas.ts";
import { COMMANDS } from "../src/commands/commands.ts";
import { jsonSchemas } from "../src/protocol/json-schemas.ts";
import { FIELDS, shownDefault } from "../src/protocol/spec-fields.ts";
import { treeFileSchema } from "../src/tree-file/schema.ts";
import { webliskSchemas } from "../src/weblisk/types/schemas.ts";
import { mcpTools } from "./mcp-tools.ts";
import { openApi } from "./openapi/document.ts";
import { buildPrograms, builtinModule, isReplaceable, NODE_VERSION, PROJECTIONS } from "./programs.ts";
import { stamp } from "./sources.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const common = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22.19",
  sourcemap: true,
  metafile: true,
  logLevel: "warning",
} as const;

const BUNDLE_LINE_CHARS = 240;
/** Packages that the client must not load before a command asks for it. */
const HEAVY =
  /node_modules\/(@ai-sdk|@modelcontextprotocol|effect|zod|yaml|better-sqlite3|koffi|xstate|execa|ulid)\//;

/** The manifest and the reader of holdfast.yaml bring zod along, the log SQLite, the validators many rules: the client loads them when somebody asks for them. */
const APART: Readonly<Record<string, string>> = {
  "cli-manifest": "src/cli/manifest.ts",
  "cli-data-check": "src/cli/data-check.ts",
  "cli-tree-file": "src/tree-file/read.ts",
  "cli-offline": "src/daemon/offline.ts",
  "cli-artifacts": "src/daemon/artifacts.ts",
  "cli-defaults": "src/cli/defaults/written.ts",
  "cli-configuration": "src/daemon/configuration.ts",
  "cli-identity": "src/weblisk/identity/opened.ts",
  "cli-mcp": "src/daemon/mcp.ts",
  "cli-acp": "src/cli/acp/serve.ts",
  "cli-mcp-serve": "src/cli/mcp/serve.ts",
  "cli-weblisk": "src/cli/weblisk/serve.ts",
  "cli-dashboard": "src/daemon/http/over-hosts.ts",
  "cli-engine-check": "src/daemon/engine-check.ts",
  "cli-spawn-request": "src/cli/spawn-request.ts",
  "cli-validators": "src/protocol/validate/validators.ts",
};
const loadedApart: Plugin = {
  name: "loaded-apart",
  setup: ({ onResolve }) =>
    onResolve(
      {
        filter:
          /\/(manifest|data-check|spawn-request|written|tree-file\/read|identity\/opened|daemon\/(?:http\/over-hosts|offline|artifacts|configuration|mcp|engine-check)|(?:acp|mcp|weblisk)\/serve|validate\/validators)\.ts$/,
      },
      ({ kind, path }) => {
        const [name] = Object.entries(APART).find(([, source]) =>
          source.endsWith(path.replace(/^[./]+/, "/")),
        )!;
        return kind === "dynamic-import" ? { path: `./${name}.js`, external: true } : undefined;
      },
    ),
};

const builtinsReplaced: Plugin = {
  name: "builtins-replaced",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:/ }, ({ kind, path }) =>
      isReplaceable(kind, path) ? { path, namespace: "builtin" } : { path, external: true },
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({ contents: builtinModule(path) }));
  },
};

/** V8 keeps the text of a program as long as it runs, and a package carries it. */
const SMALL = {
  minifyWhitespace: true,
  minifySyntax: true,
  // Node prints the line of an error that nobody caught.
  lineLimit: BUNDLE_LINE_CHARS,
} as const;

/** Short names are a sixth of a package; `node scripts/positions.ts` says where in the sources a stack was, and `--names` keeps them for a profile. */
const SMALLEST = { ...SMALL, minifyIdentifiers: !process.argv.includes("--names") } as const;

/**
 * One file, and CommonJS: Node makes a facade of each built-in module that an ES module imports, for which it runs every
 * lazy getter of it (`node:util` alone loads worker threads). That is a third of the client's start.
 */
const buildClient = async (): Promise<void> => {
  const client = await build({
    ...common,
    format: "cjs",
    entryPoints: { cli: "src/cli/main.ts" },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    plugins: [loadedApart],
    ...SMALLEST,
    define: { "import.meta.url": "import_meta_url" },
    banner: { js: 'const import_meta_url = require("node:url").pathToFileURL(__filename).href;' },
  });
  const heavy = Object.keys(client.metafile.inputs).filter((input) => HEAVY.test(input));
  if (heavy.length > 0)
    throw new Error(`The client would load at its start: ${heavy.slice(0, 5).join(", ")}`);
};

/** `dist/relay.cjs`: the start of `agent relay`, which bin/agent tries first. */
const buildRelay = async (): Promise<void> => {
  await build({
    ...common,
    format: "cjs",
    entryPoints: { relay: "src/cli/relay-first.ts" },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    plugins: [onlyUsed],
    ...SMALLEST,
  });
};

/** The library has no file for each source: what its doors share with other programs is there once. */
const LIBRARY: Readonly<Record<string, string>> = {
  library: "src/library/index.ts",
  "library-effect": "src/library/effect.ts",
  "library-adapters": "src/library/adapters.ts",
  "library-testing": "src/library/testing.ts",
};

/** The finished JSON Schemas of all commands, in the place of the module that makes them. */
const schemasMade = (): string => {
  const made = COMMANDS.map((each) => [each.command, JSON.stringify(outputSchemaOf(each))]);
  // A mistaken call has the words that somebody typed for its command.
  const any = JSON.stringify(outputSchemaOf({ command: "" }));
  return `const made = new Map(Object.entries(${JSON.stringify(Object.fromEntries(made))}));
export const outputSchemaOf = ({ command }) => JSON.parse(made.get(command) ?? ${JSON.stringify(any)});`;
};

const buildShared = async (): Promise<void> => {
  const chunks = await buildPrograms({
    root,
    programs: {
      ...APART,
      daemon: "src/daemon/entry.ts",
      engine: "src/engine/child.ts",
      "skill-child": "src/skills/child.ts",
      "store-thread": "src/store/sqlite/thread.ts",
      "telemetry-thread": "src/daemon/telemetry/thread.ts",
      "weblisk-gateway": "src/weblisk/federation/gateway-child.ts",
      "weblisk-task": "src/weblisk/client/child.ts",
      [PROJECTIONS]: "src/protocol/run-events/project.ts",
    },
    library: LIBRARY,
    external: ["better-sqlite3", "koffi", "pg", "@modelcontextprotocol/server"],
    replaced: { "/cli/output-schemas.ts": schemasMade },
    small: SMALLEST,
  });
  // It reads the log and checks no input: the schemas are six times all the rest of it.
  if (loadedWith(chunks, "cli-offline.js").some((module) => module.includes("node_modules/zod/")))
    throw new Error("cli-offline.js would load zod.");
  for (const { fileName } of chunks) assertAscii(join(dist, fileName));
};

/** The modules in a file, and in the files that it imports at once. */
const loadedWith = (
  chunks: readonly OutputChunk[],
  name: string,
  seen = new Set<string>(),
): readonly string[] => {
  const chunk = chunks.find(({ fileName }) => fileName === name);
  if (chunk === undefined || seen.has(name)) return [];
  seen.add(name);
  return [...chunk.moduleIds, ...chunk.imports.flatMap((each) => loadedWith(chunks, each, seen))];
};

/** V8 keeps a text with one wide character in two bytes a character. Esbuild escapes them in strings; a regular expression has to escape it, too. */
const assertAscii = (file: string): void => {
  const line = readFileSync(file, "utf8")
    .split("\n")
    .find((each) => /[^\x00-\x7f]/.test(each));
  if (line !== undefined)
    throw new Error(
      `${file} has a character that is not ASCII; write it as an escape: ${line.slice(0, 200)}`,
    );
};

/** `dist/cli.code`: what V8 has compiled of the client once it has run a command; bin/agent takes it if it runs under this Node. */
const compileClient = (): void => {
  const program = join(dist, "cli.cjs");
  assertAscii(program);
  const made = spawnSync(process.execPath, [join(root, "scripts", "compile-client.cjs"), program], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (made.status !== 0) throw new Error("The client could not be compiled.");
};

/** Programs that stay alone in one file: small ones, of which two run where nothing else of the package is, and one loads under an old Node. */
const buildAlone = async (): Promise<void> => {
  await build({
    ...common,
    entryPoints: {
      "daemon-watchdog": "src/daemon/watchdog-thread.ts",
      [NODE_VERSION]: "src/library/node-version.ts",
      "skill-wasi": "src/skills/wasi.ts",
      "skill-tunnel": "src/skills/network/tunnelled.ts",
    },
    outdir: dist,
    external: ["koffi"],
    plugins: [builtinsReplaced],
    ...SMALLEST,
  });
};

/**
 * The page takes single functions of modules that also know more: the rest is left out, because no module of ours but the
 * first one does anything when it is loaded.
 */
const onlyUsed: Plugin = {
  name: "only-used",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) =>
      resolveDir.startsWith(join(root, "src"))
        ? { path: resolve(resolveDir, path), sideEffects: path.endsWith(".css") }
        : undefined,
    );
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
  },
};

/** `dist/web`: the dashboard, each file but the page with a digest in its name, all in Brotli. */
const buildDashboard = async (): Promise<void> => {
  const web = join(dist, "web");
  const { metafile } = await build({
    ...common,
    platform: "browser",
    target: "es2023",
    entryPoints: { dashboard: "src/web/main.tsx", icon: "src/web/icon.svg" },
    outdir: web,
    entryNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".svg": "copy" },
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    sourcemap: false,
    plugins: [onlyUsed],
  });
  const foreign = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  if (foreign.length > 0)
    throw new Error(`The dashboard needs what a browser has not: ${foreign.join(", ")}`);
  const made = Object.keys(metafile.outputs).map((name) => basename(name));
  const names = { SCRIPT: "js", STYLE: "css", ICON: "svg" };
  let page = readFileSync(join(root, "src/web/index.html"), "utf8");
  for (const [word, suffix] of Object.entries(names))
    page = page.replace(`"/${word}"`, `"/${made.find((name) => name.endsWith(`.${suffix}`))}"`);
  writeFileSync(join(web, "index.html"), page);
  for (const name of ["index.html", ...made]) {
    const plain = join(web, name);
    writeFileSync(`${plain}.br`, brotliCompressSync(readFileSync(plain)));
    rmSync(plain);
  }
};

/** `dist/lib`: the types of the library's doors. */
const declareLibrary = (): void => {
  const entries = Object.values(LIBRARY).map((source) => join(root, source));
  const project = join(dist, "tsconfig.lib.json");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    outDir: join(dist, "lib"),
    rootDir: root,
    rewriteRelativeImportExtensions: true,
  };
  writeFileSync(
    project,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: [], files: entries }),
  );
  const tsc = spawnSync(join(root, "node_modules", ".bin", "tsc"), ["-p", project], { stdio: "inherit" });
  rmSync(project);
  if (tsc.status !== 0) process.exit(1);
  describeFields();
  dropUnseenDeclarations(entries.map(declarationOf));
};

const declarationOf = (source: string): string =>
  source.replace(root, join(dist, "lib")).replace(/\.ts$/, ".d.ts");

/** Nobody's program sees a declaration that those of the doors do not reach. */
const dropUnseenDeclarations = (doors: readonly string[]): void => {
  const seen = new Set(doors);
  for (const file of seen)
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g))
      seen.add(`${join(dirname(file), path)}.d.ts`);
  // Nobody's compiler asks for the check of Node's version.
  for (const door of doors)
    writeFileSync(door, readFileSync(door, "utf8").replace(/^import "\.\/node-version\.ts";\n/m, ""));
  const folder = join(dist, "lib");
  for (const name of readdirSync(folder, { recursive: true }) as string[])
    if (name.endsWith(".d.ts") && !seen.has(join(folder, name))) rmSync(join(folder, name));
  for (const file of seen) writeFileSync(file, indentedByTabs(readFileSync(file, "utf8")));
};

/** The compiler indents by four blanks, which are kilobytes of the package. */
const indentedByTabs = (text: string): string =>
  text.replace(/^(?: {4})+/gm, (blanks) => "\t".repeat(blanks.length / 4));

/** Editors show the sentence of a field where a program writes it: the options of spawn are made of the table of fields. */
const describeFields = (): void => {
  const file = join(dist, "lib", "src", "library", "options.d.ts");
  const fields = FIELDS.flatMap(([name, field]) => {
    if (field.isAmbient || name === "kind" || name === "argv") return [];
    const shown = shownDefault(field);
    const about = `${field.help}${shown === undefined ? "" : `; default: ${shown}`}`;
    return [`    /** ${about} */\n    readonly ${name}?: SpecOptions["${name}"];\n`];
  });
  const heading = 'interface WorkerOptions extends Omit<SpecOptions, "kind" | "argv"> {\n';
  const [before, after] = readFileSync(file, "utf8").split(heading);
  if (after === undefined) throw new Error("options.d.ts has no WorkerOptions to describe.");
  writeFileSync(file, `${before}${heading}${fields.join("")}${after}`);
};

/** `holdfast/schemas/NAME.json`: for programs in other languages, and for editors of a holdfast.yaml. */
const writeSchemas = (): void => {
  for (const [name, schema] of Object.entries({ ...jsonSchemas(), holdfast: treeFileSchema() })) {
    const file = join(dist, "schemas", `${name.replace("/", "-")}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(schema)}\n`);
  }
  writeFileSync(join(dist, "schemas", "openapi.json"), `${JSON.stringify(openApi(packageJson.version))}\n`);
  writeFileSync(join(dist, "schemas", "weblisk.json"), `${JSON.stringify(webliskSchemas())}\n`);
  writeFileSync(join(dist, "mcp-tools.json"), `${JSON.stringify(mcpTools())}\n`);
};

for (const name of existsSync(dist) ? readdirSync(dist) : []) rmSync(join(dist, name), { recursive: true });
await buildClient();
await buildRelay();
compileClient();
await buildShared();
await buildAlone();
await buildDashboard();
declareLibrary();
writeSchemas();
stamp(root);
