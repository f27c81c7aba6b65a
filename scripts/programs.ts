/**
 * The programs of the package but the client: the daemon, the engine, the library, the parts that the client loads when
 * somebody asks for them. Code of several of them is in files that they share (docs/decisions/0072).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build, type TransformOptions, transform } from "esbuild";
import { type OutputChunk, type Plugin, type RolldownBuild, rolldown } from "rolldown";
import { joined, type Piece } from "./chunks.ts";

export interface Programs {
  readonly root: string;
  /** By the names of their files, without `.js`: the sources that they begin with. */
  readonly programs: Readonly<Record<string, string>>;
  /** Programs that run inside of somebody's: they use the Effect that is there. */
  readonly library: Readonly<Record<string, string>>;
  /** Packages that are loaded from where they are installed. */
  readonly external: readonly string[];
  /** Sources that another text stands for, by the end of their paths. */
  readonly replaced: Readonly<Record<string, () => string>>;
  readonly small: TransformOptions;
}

/** A module that says when it is loaded that it is experimental. */
const WARNS = "node:wasi";
/** It loads TLS, which is a tenth of a daemon's start: its functions load it when they are called. Nobody imports a class of it. */
const LATE = "node:https";
const builtin = process.getBuiltinModule as (name: string) => object;
/**
 * The text that stands for a built-in module, with the names that are used: for an `import` of one, Node makes a facade of the
 * whole module, and runs every lazy getter of it (that of `node:http` loads undici).
 */
export const builtinModule = (path: string): string => {
  const names = Object.entries(builtin(path));
  if (path === LATE)
    return names
      .filter(([name, value]) => typeof value === "function" && /^[a-z]/.test(name))
      .map(
        ([name]) =>
          `export const ${name} = (...given) => process.getBuiltinModule("${path}").${name}(...given);`,
      )
      .join("\n");
  return [
    `const whole = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(path)});`,
    "const take = (name) => whole[name];",
    ...names.map(([name]) => `export const ${name} = /* @__PURE__ */ take("${name}");`),
    "export default whole;",
  ].join("\n");
};
export const isReplaceable = (kind: string, path: string): boolean =>
  kind === "import-statement" && path !== WARNS;

/** The pure functions of the library: nobody starts it. As a program, it keeps them apart from the runtime. */
export const PROJECTIONS = "library-projections";

/** The check of Node's version: each door of the library loads this file first, because others do not load under an old Node. */
export const NODE_VERSION = "library-node-version";

/** The suffix of a module of which the library has its own copy, because it needs Effect. */
const OWN = "?library";
const EFFECT = /^effect(\/|$)/;
/** Virtual modules, which no other plugin looks for. */
const BUILTIN = "\0builtin:";
const NOTHING = "\0nothing";
/** The languages of zod's own messages: nobody reads them here, and they are as large as zod. */
const LANGUAGES = /\/locales\/index\.js$/;

/** The sources of the library that need Effect, or another one that does. */
const needingEffect = async ({ root, library }: Programs): Promise<ReadonlySet<string>> => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.values(library),
    outdir: "nowhere",
    bundle: true,
    write: false,
    metafile: true,
    packages: "external",
    platform: "node",
    format: "esm",
  });
  const inputs = Object.entries(metafile.inputs);
  const found = new Set<string>();
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const [path, { imports }] of inputs)
      if (imports.some((each) => EFFECT.test(each.path) || found.has(each.path))) found.add(path);
  }
  return new Set([...found].map((path) => join(root, path)));
};

const resolving = ({ external, replaced }: Programs, own: ReadonlySet<string>): Plugin => ({
  name: "programs",
  resolveId(source, importer = "", { kind }) {
    if (source.startsWith("node:"))
      return isReplaceable(kind, source) ? `${BUILTIN}${source}` : { id: source, external: true };
    const isOfLibrary = importer.endsWith(OWN);
    if (
      external.some((name) => source === name || source.startsWith(`${name}/`)) ||
      (isOfLibrary && EFFECT.test(source))
    )
      return { id: source, external: true };
    if (LANGUAGES.test(source) && importer.includes("/zod/")) return NOTHING;
    if (source.endsWith(OWN)) return source;
    if (!isOfLibrary || !source.startsWith(".")) return null;
    const path = resolve(dirname(importer), source);
    return own.has(path) ? `${path}${OWN}` : path;
  },
  load(id) {
    if (id === NOTHING || id.endsWith("/library/node-version.ts")) return "export {};";
    if (id.startsWith(BUILTIN)) return builtinModule(id.slice(BUILTIN.length));
    const found = Object.entries(replaced).find(([path]) => id.endsWith(path));
    if (found !== undefined) return { code: found[1](), moduleType: "js" };
    return id.endsWith(OWN)
      ? { code: readFileSync(id.slice(0, -OWN.length), "utf8"), moduleType: "ts" }
      : null;
  },
});

/** The only module of ours here that does something when it is loaded. */
const ACTING = /\/src\/daemon\/close-inherited\.ts$/;

type NameOfGroup = (module: string) => string | undefined;

/** Writes the programs to `dist`. All of their files, as they were before they were made small. */
export const buildPrograms = async (wanted: Programs): Promise<readonly OutputChunk[]> => {
  const { root, programs, library } = wanted;
  const ofLibrary = Object.entries(library).map(([name, source]) => [name, `${join(root, source)}${OWN}`]);
  const bundle = await rolldown({
    cwd: root,
    input: { ...programs, ...Object.fromEntries(ofLibrary) },
    platform: "node",
    plugins: [resolving(wanted, await needingEffect(wanted))],
    treeshake: {
      moduleSideEffects: [
        { test: ACTING, sideEffects: true },
        { test: new RegExp(`^${root}/src/`), sideEffects: false },
      ],
    },
    preserveEntrySignatures: "allow-extension",
  });
  const pieces = await chunksOf(bundle, wanted, () => "part", { entriesAware: true });
  const groups = joined(pieces.map(pieceOf));
  const groupOf = new Map(
    pieces.flatMap(({ fileName, moduleIds }) => moduleIds.map((id) => [id, groups.get(fileName)])),
  );
  const chunks = await chunksOf(bundle, wanted, (module) => groupOf.get(module), { sourcemap: "inline" });
  await bundle.close();
  await Promise.all(chunks.map((chunk) => writeSmall(chunk, wanted)));
  return chunks;
};

const chunksOf = async (
  bundle: RolldownBuild,
  { library }: Programs,
  nameOf: NameOfGroup,
  { entriesAware, sourcemap }: { readonly entriesAware?: true; readonly sourcemap?: "inline" },
): Promise<readonly OutputChunk[]> => {
  const { output } = await bundle.generate({
    // Its maps name the sources from here.
    dir: "dist",
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "part-[hash].js",
    banner: ({ name, isEntry }) => (isEntry && name in library ? `import "./${NODE_VERSION}.js";` : ""),
    sourcemap,
    codeSplitting: {
      groups: [
        {
          debugName: "shared",
          // A program begins in a file of its own.
          name: (id, context) => {
            const module = context.getModuleInfo(id);
            const isBegin = module?.isEntry || (module?.dynamicImporters.length ?? 0) > 0;
            return isBegin ? undefined : nameOf(id);
          },
          entriesAware,
          includeDependenciesRecursively: false,
        },
      ],
    },
  });
  return output.filter((each) => each.type === "chunk");
};

/** How much the start of a program counts. Default: 1. */
const WEIGHTS: Readonly<Record<string, number>> = {
  // It loads most, and people wait for its start.
  daemon: 3,
  // Somebody's bundler takes all of it.
  [PROJECTIONS]: 10,
};

const pieceOf = (
  { fileName, name, isEntry, isDynamicEntry, imports, modules }: OutputChunk,
  _index: number,
  all: readonly OutputChunk[],
): Piece => ({
  name: fileName,
  bytes: Object.values(modules).reduce((sum, { renderedLength }) => sum + renderedLength, 0),
  imports: imports.filter((each) => all.some((chunk) => chunk.fileName === each)),
  packages: imports.filter((each) => !all.some((chunk) => chunk.fileName === each)),
  weight: isEntry || isDynamicEntry ? (WEIGHTS[name] ?? 1) : undefined,
});

const writeSmall = async ({ fileName, code }: OutputChunk, { root, small }: Programs): Promise<void> => {
  const made = await transform(code, {
    ...small,
    target: "node22.19",
    treeShaking: true,
    legalComments: "none",
    sourcemap: "external",
    sourcefile: fileName,
  });
  const file = join(root, "dist", fileName);
  writeFileSync(file, made.code);
  writeFileSync(`${file}.map`, made.map.replaceAll(`${OWN}"`, '"'));
};
