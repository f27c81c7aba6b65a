/** Run with a low `ulimit -n`: what a line reader does while this process can open nothing. Prints one JSON object. */
import { closeSync, openSync, writeFileSync } from "node:fs";
import { LineReader } from "../../../src/actors/intake/line-reader.ts";
import { SPOOL_READ_BYTES } from "../../../src/base/limits.ts";
import { fileSource } from "../../support/file-source.ts";

const path = process.argv[2]!;
writeFileSync(path, "one\ntw");
const reader = new LineReader({ source: fileSource(path), offset: 0, skipped_bytes: 0 });
const whileBlind = (work: () => unknown): unknown => {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    // None is left.
  }
  try {
    return work();
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code;
  } finally {
    for (const fd of taken) closeSync(fd);
  }
};
const refused = whileBlind(() => reader.read(SPOOL_READ_BYTES));
const { pieces } = reader.read(SPOOL_READ_BYTES);
const refusedLast = whileBlind(() => reader.finish());
console.log(JSON.stringify({ refused, pieces, refusedLast, last: reader.finish() }));
