/** The file of a node while it lives: a person who removes it takes the node out, and only a join makes it again. */
import { existsSync } from "node:fs";
import { HoldfastError } from "../../protocol/errors.ts";
import { clusterFile } from "../paths.ts";
import { type KeptNode, writeKept } from "./kept.ts";

export const isKept = (stateDir: string): boolean => existsSync(clusterFile(stateDir));

/** Throws FILE_FAILED where the file is gone. */
export const rewriteKept = (stateDir: string, kept: KeptNode): void => {
  if (!isKept(stateDir))
    throw new HoldfastError(
      "FILE_FAILED",
      "cluster.json was removed, so this node does not renew its lease.",
      { suggestion: "Leave with agent cluster leave, or stay by the same agent cluster join as before." },
    );
  writeKept(stateDir, kept);
};
