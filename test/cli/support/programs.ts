/** A directory with a program of each kind that has one, for a PATH: the client looks whether they are there. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KINDS } from "../../../src/commands/kinds.ts";

export const programsOfKinds = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-programs-"));
  for (const { binary } of KINDS)
    if (binary !== null) writeFileSync(join(directory, binary), "#!/bin/sh\n", { mode: 0o755 });
  return directory;
};
