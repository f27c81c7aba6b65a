/** Other versions of this program, installed in a temporary directory: the next one, and older ones as they were built. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import packageJson from "../../package.json" with { type: "json" };
import { temporaryDirectory } from "../adapters/process/support.ts";

const root = resolve(import.meta.dirname, "../..");

export const NEXT = "99.0.0";

const installation = (): string => {
  const dir = join(temporaryDirectory(), "version");
  mkdirSync(dir);
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  return dir;
};

/** The `agent` command of this build, installed elsewhere as version NEXT; `spoil` is put before the daemon's program. */
export const nextVersion = (spoil = ""): string => {
  const dir = installation();
  cpSync(join(root, "bin"), join(dir, "bin"), { recursive: true });
  cpSync(join(root, "dist"), join(dir, "dist"), {
    recursive: true,
    filter: (path) => !/\.map$|\/lib$|\/schemas$/.test(path),
  });
  for (const name of readdirSync(join(dir, "dist")).filter((each) => /\.c?js$/.test(each))) {
    const file = join(dir, "dist", name);
    const text = readFileSync(file, "utf8");
    const next = text.replaceAll(`"${packageJson.version}"`, `"${NEXT}"`);
    const spoiled = name === "daemon.js" ? `${spoil}\n${next}` : next;
    if (spoiled !== text) writeFileSync(file, spoiled);
  }
  return join(dir, "bin/agent");
};

/** The `agent` command of a file of test/fixtures/versions. */
export const oldVersion = (name: string): string => {
  const packed = readFileSync(join(root, "test/fixtures/versions", `${name}.json.br`));
  const { files } = JSON.parse(brotliDecompressSync(packed).toString()) as {
    readonly files: Readonly<Record<string, string>>;
  };
  const dir = installation();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return join(dir, "bin/agent");
};
