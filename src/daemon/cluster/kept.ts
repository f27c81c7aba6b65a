/** The file that says which node a daemon is: the database, its name, and its lease, for the next daemon. It has a secret. */
import { rmSync } from "node:fs";
import { hostname, uptime } from "node:os";
import * as z from "zod";
import { currentPlace } from "../../adapters/process/identity.ts";
import { readRegular } from "../../base/files/regular-file.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { CLUSTER_FILE_MAX_BYTES } from "../../base/limits.ts";
import type { KeptMembership } from "../../cluster/node/machine.ts";
import type { NewNode, NodeLabels } from "../../cluster/rows.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { clusterFile, clusterLeaseFile } from "../paths.ts";

const MS_PER_S = 1_000;

/** Milliseconds since the machine was booted. They go on in a suspend, and the next daemon of this boot has the same. */
export const bootClock = (): number => Math.round(uptime() * MS_PER_S);

export interface KeptNode extends KeptMembership {
  /** The address, or `@file:/PATH` of a file that has it. */
  readonly database: string;
  readonly name: string;
  readonly labels: NodeLabels;
  readonly capacity: number;
  /** As `--host` takes it; "" where nobody gave one. */
  readonly endpoint: string;
}

export const holdsLease = ({ until_ms }: Pick<KeptNode, "until_ms">): boolean =>
  until_ms !== null && bootClock() < until_ms;

const File = z.object({
  version: z.literal(1),
  database: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  capacity: z.int(),
  endpoint: z.string().default(""),
  term: z.int(),
  until_ms: z.number().nullable(),
  session: z.string(),
  boot_id: z.string(),
});

/** Undefined without a file. A lease of an earlier boot is over. Throws FILE_FAILED for a file that is none of a node. */
export const readKept = (stateDir: string): KeptNode | undefined => {
  const bytes = readRegular(clusterFile(stateDir), CLUSTER_FILE_MAX_BYTES);
  if (bytes === undefined) return undefined;
  const { version: _, boot_id, ...kept } = parsedFile(bytes.toString("utf8"));
  return boot_id === currentPlace().boot_id ? kept : { ...kept, until_ms: null };
};

/** The error has neither the text nor its cause: both may show the secret. */
const parsedFile = (text: string): z.infer<typeof File> => {
  try {
    return File.parse(JSON.parse(text));
  } catch {
    throw new HoldfastError("FILE_FAILED", "cluster.json in the state directory cannot be read.", {
      suggestion: "Delete it, and join again: agent cluster join URL",
    });
  }
};

/** The lease of the guard comes first, so that the daemon never believes in one that the guard does not know. */
export const writeKept = (stateDir: string, kept: KeptNode): void => {
  const { boot_id } = currentPlace();
  const until = kept.until_ms === null ? "-" : Math.floor(kept.until_ms);
  replaceFile(clusterLeaseFile(stateDir), `${kept.name} ${until} ${boot_id}\n`);
  replaceFile(clusterFile(stateDir), `${JSON.stringify({ version: 1, ...kept, boot_id })}\n`);
};

/** The guard ends the runs that stop, and then itself, once its lease is gone. */
export const forgetKept = (stateDir: string): void => {
  rmSync(clusterLeaseFile(stateDir), { force: true });
  rmSync(clusterFile(stateDir), { force: true });
};

/** In the tables of the cluster. */
export const rowOf = (
  { name, labels, capacity, endpoint }: Pick<KeptNode, "name" | "labels" | "capacity" | "endpoint">,
  store_id: string,
): NewNode => ({ id: name, store_id, labels, capacity, endpoint });

/** A machine may have a name that no node can have. */
export const nameOfMachine = (): string =>
  hostname()
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "") || "node";
