/**
 * `node scripts/positions.ts < STACK`: the stack of a packed program (`…/dist/daemon.js:7:1234`) with places in the sources.
 * A build of the same commit makes the same program, so its maps hold for it.
 */
import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, normalize } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

type MapPayload = ConstructorParameters<typeof SourceMap>[0];
const dist = join(import.meta.dirname, "..", "dist");
const maps = new Map<string, SourceMap | undefined>();

const mapOf = (program: string): SourceMap | undefined => {
  if (!maps.has(program)) {
    const file = join(dist, `${program}.map`);
    maps.set(
      program,
      existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, "utf8")) as MapPayload) : undefined,
    );
  }
  return maps.get(program);
};

/** A position that no map knows stays as it is. */
export const inSources = (stack: string): string =>
  stack.replace(/[^\s()]*\/dist\/([\w-]+\.c?js):(\d+):(\d+)/g, (position, program: string, line, column) => {
    const found = mapOf(program)?.findOrigin(Number(line), Number(column));
    if (found === undefined || !("fileName" in found)) return position;
    return `${normalize(join("dist", found.fileName))}:${found.lineNumber}:${found.columnNumber}`;
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  process.stdout.write(inSources(await text(process.stdin)));
