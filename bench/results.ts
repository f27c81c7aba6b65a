/** The last recorded figures of each bench (results.json), with the date, the machine and the command of their run. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import type { Table } from "./support.ts";

export interface Recorded {
  readonly date: string;
  readonly machine: string;
  readonly command: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const FILE = join(import.meta.dirname, "results.json");

export const recorded = (): Readonly<Record<string, Recorded>> => JSON.parse(readFileSync(FILE, "utf8"));

/** The load is that of before the bench: other work on the machine. */
const MACHINE = `${cpus().length} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)} at its start`;

export const record = (name: string, { head, rows }: Table): void => {
  const entry: Recorded = {
    date: new Date().toISOString().slice(0, 10),
    machine: MACHINE,
    command: `npm run bench -- ${name}`,
    head,
    rows,
  };
  writeFileSync(FILE, `${JSON.stringify({ ...recorded(), [name]: entry }, null, 2)}\n`);
};
