/** agent watch: records from a cursor on, then live. */

import { didYouMean } from "../../base/suggest.ts";
import type { Client } from "../../daemon/client.ts";
import { placeInCopy, wantedInCopy } from "../../daemon/copy-follow.ts";
import type { Replies } from "../../daemon/replies.ts";
import type { StartCursor } from "../../protocol/cursor.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandResult, Context } from "../context.ts";
import type { Call } from "../parse.ts";
import { RECORD_TYPES } from "../render/sentences.ts";
import { elsewhereNamed, isAtNode } from "./elsewhere.ts";
import { AGENT_EVENT_KINDS, follow, kindFilter, leavesRunning } from "./follow.ts";
import { watchCopy } from "./watch-copy.ts";

export const watchProblems = ({ flags, args }: Call): readonly string[] => {
  const problems: string[] = [];
  const kinds = (flags.kinds as string[] | undefined) ?? [];
  const known = [...RECORD_TYPES, ...AGENT_EVENT_KINDS];
  for (const kind of kinds)
    if (!known.includes(kind)) problems.push(`--kinds knows no "${kind}"${didYouMean(kind, known)}`);
  if (flags.all && args.length > 0) problems.push("agent watch takes IDs or --all, not both");
  if (flags.subtree && args.length === 0) problems.push("agent watch --subtree needs an ID");
  if (flags.from !== undefined && flags.since !== undefined)
    problems.push("agent watch takes --from or --since, not both");
  return problems;
};

export const watch = async (context: Context): Promise<CommandResult> => {
  const { call, flags } = context;
  const ids = [...call.args];
  leavesRunning(context, ids);
  const isNewOnly = flags.from === undefined && flags.since === undefined;
  const client = await context.connect();
  const found = await Promise.all(ids.map((id) => placedOf(context, client, id)));
  if (ids.length > 1 && found.some((each) => each !== undefined)) return watchSeveral(context, ids, found);
  const [placed] = found;
  if (placed?.isHere === false) return watchThere(context, placed.name);
  if (isNewOnly) {
    // An unknown worker has no records to wait for, so it is refused.
    if (context.mode === "text" && context.isStderrTerminal)
      for (const id of ids) await client.request("agent/info", { id });
    context.hint(
      "New records follow here; earlier ones: --from 0 or --since 1h. Ctrl-C ends this, not the workers.",
    );
  }
  const followed = await followHere(context, ids);
  const later = placed && (await watchOn(context, placed, followed.records));
  if (later !== undefined) return later;
  if (isNewOnly && followed.records === 0)
    context.hint(
      `Nothing new: ${ids.length === 1 ? "it has" : "they have"} ended. See: agent logs ${ids[0]}`,
      "after",
    );
  return success(followed);
};

/** In the log of this machine. */
const followHere = (context: Context, ids: string[]): ReturnType<typeof follow> => {
  const { flags } = context;
  return follow(context, {
    ids,
    all: ids.length === 0,
    subtree: flags.subtree === true,
    follow: ids.length === 0,
    from: flags.from as StartCursor | undefined,
    since_ms: flags.since as number | undefined,
    ...kindFilter((flags.kinds as string[] | undefined) ?? []),
  });
};

/** Each placed worker is followed by itself, because it may move; the others are followed together. */
const watchSeveral = async (
  context: Context,
  ids: readonly string[],
  found: readonly (WatchedPlaced | undefined)[],
): Promise<CommandResult> => {
  const own = ids.filter((_, at) => found[at] === undefined);
  const here = async (names: string[]): Promise<CommandResult> => success(await followHere(context, names));
  const placed = new Map(found.flatMap((each) => (each === undefined ? [] : [[each.name, each] as const])));
  const watched = async (one: WatchedPlaced): Promise<CommandResult> => {
    if (!one.isHere) return watchThere(context, one.name);
    const followed = await followHere(context, [one.id ?? one.name]);
    return (await watchOn(context, one, followed.records)) ?? success(followed);
  };
  const parts = await Promise.all([
    ...(own.length === 0 ? [] : [here(own)]),
    ...[...placed.values()].map(watched),
  ]);
  const values = parts.map(({ value }) => value as Replies["agent/watch"] & { readonly records: number });
  const failed = parts.find(({ ok }) => !ok);
  if (failed !== undefined) return failed;
  const { next, cursor } = values.find((value) => !("source" in value)) ?? newestOf(values);
  return success({ next, cursor, records: values.reduce((sum, { records }) => sum + records, 0) });
};

/** All of them are read to their ends, so the last place of all is behind each. */
const newestOf = <Value extends { readonly next: number }>(values: readonly Value[]): Value =>
  values.reduce((a, b) => (a.next < b.next ? b : a));

interface WatchedPlaced {
  readonly name: string;
  /** A run of it is in the log of this machine. */
  readonly isHere: boolean;
  readonly id: string | null;
}

/** The placed worker that a watch at a node is for; undefined for others, and if nobody knows it. */
const placedOf = async (
  context: Context,
  client: Client,
  ref: string,
): Promise<WatchedPlaced | undefined> => {
  const { flags } = context;
  if (!isAtNode(context)) return undefined;
  const here = await client.ask("agent/info", { id: ref, here: true });
  if (here.ok && placeInCopy(flags.from) === undefined) {
    const { id, name, spec } = here.value;
    return name !== null && spec.placed?.worker === name ? { name, id, isHere: true } : undefined;
  }
  if (!here.ok && here.error.code !== "WORKER_NOT_FOUND") return undefined;
  const there = await elsewhereNamed(context, client, ref);
  return there && { name: there.name, id: there.id, isHere: false };
};

const watchThere = async (context: Context, name: string): Promise<CommandResult> => {
  const { from } = context.flags;
  const after = from === undefined || from === 0 ? 0 : placeInCopy(from);
  if (after === undefined)
    throw new HoldfastError(
      "INVALID_REQUEST",
      `${name} runs on another node, and --from ${from} is of a log of this machine.`,
      {
        phase: "validation",
        suggestion: "Use --since, or --from with the cursor of an earlier watch of it.",
      },
    );
  const watched = await watchCopy(context, { name, after, records: 0, ...chosenBy(context) });
  return watched as CommandResult;
};

/** After its end here: it may run on another node now. Undefined where it does not. */
const watchOn = async (
  context: Context,
  { name, id }: WatchedPlaced,
  records: number,
): Promise<CommandResult | undefined> => {
  const client = await context.connect();
  const end = await client.ask("agent/info", { id: id ?? name, here: true });
  if (!end.ok || end.value.state === "completed" || id === null) return undefined;
  const seen = await client.ask("cluster/workers", { worker: name });
  if (!seen.ok && seen.error.code !== "UNAVAILABLE") return undefined;
  return watchCopy(context, { name, after: 0, past: id, records, ...chosenBy(context) });
};

const chosenBy = (context: Context) => ({
  subtree: context.flags.subtree === true,
  isWanted: wantedInCopy({
    ...kindFilter((context.flags.kinds as string[] | undefined) ?? []),
    since_ms: context.flags.since as number | undefined,
  }),
});
