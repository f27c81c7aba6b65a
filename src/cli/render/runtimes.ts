/** The runtimes of a daemon, and that of a worker, as people read them. */
import type { Replies } from "../../daemon/replies.ts";
import { RUNTIME_DEFAULT, SUBPROCESS } from "../../protocol/words.ts";
import type { RuntimeTrouble, WorkerInfo } from "../../runtime/replies.ts";
import { oneLine } from "./terminal.ts";

/** Names the active runtimes, the built-in one first. */
export const runtimesWords = (runtimes: Replies["daemon/status"]["runtimes"]): string =>
  runtimes
    // A daemon of an earlier version does not report a trouble.
    .map(({ name, backend_kind, trouble }) => oneLine(`${name} (${backend_kind}${trouble ? ", down" : ""})`))
    .join(", ");

/** The runtimes that cannot be used now. */
export const troublesOf = (runtimes: Replies["daemon/status"]["runtimes"]): readonly RuntimeTrouble[] =>
  (runtimes ?? []).flatMap(({ trouble }) => trouble ?? []);

interface RunByBackend {
  readonly backend_kind?: string | null | undefined;
}

/** True for a worker that is no process of this machine. A daemon of an earlier version does not report the kind. */
export const isElsewhere = <T extends RunByBackend>(
  worker: T,
): worker is T & { readonly backend_kind: string } => (worker.backend_kind ?? SUBPROCESS) !== SUBPROCESS;

/** The runtime of a worker, if it is not the built-in one. */
export const runtimeWords = ({ spec, backend_kind }: WorkerInfo): string | null =>
  spec.runtime === undefined && !isElsewhere({ backend_kind })
    ? null
    : oneLine(`${spec.runtime ?? RUNTIME_DEFAULT}${backend_kind ? `, of kind ${backend_kind}` : ""}`);
