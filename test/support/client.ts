/**
 * The client of these sources in one file, as the package has it: a test runs commands in its own process with it, and it
 * starts the daemon that is shipped. From the sources it would start a daemon of some thousand modules, which takes four
 * times as long.
 */
import { existsSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import type { run } from "../../src/cli/run.ts";
import { assertBuilt } from "./built.ts";

const root = resolve(import.meta.dirname, "../..");
/** The client looks from here for the daemon and for what it does not bring along. */
const shipped = join(root, "dist/cli.cjs");

const build = (outfile: string): void => {
  const own = `${outfile}.${process.pid}`;
  buildSync({
    entryPoints: [join(root, "src/cli/run.ts")],
    outfile: own,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node22.19",
    external: ["better-sqlite3", "koffi"],
    define: { "import.meta": "import_meta" },
    banner: {
      js: `var require = require("node:module").createRequire(${JSON.stringify(shipped)}); const import_meta = { url: ${JSON.stringify(pathToFileURL(shipped).href)} };`,
    },
    logLevel: "warning",
  });
  // Other processes of the run may do the same at the same time.
  renameSync(own, outfile);
};

let made: typeof run | undefined;

export const clientRun = (): typeof run => {
  if (made === undefined) {
    assertBuilt();
    const cache = process.env.XDG_CACHE_HOME;
    const file = join(cache ?? join(root, ".cache"), "holdfast-client.cjs");
    // A run of tests has a cache of its own; a bench has none, and the client of an earlier one may be that of other sources.
    if (cache === undefined || !existsSync(file)) build(file);
    made = (createRequire(import.meta.url)(file) as { run: typeof run }).run;
  }
  return made;
};
