/** The short commands about workers: one request, one answer. */

import { READ_PAGE_RECORDS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { ElsewhereWorker } from "../../protocol/replies/cluster.ts";
import type { PerWorker } from "../../runtime/api.ts";
import { type CommandHandler, type CommandResult, type Context, keyOf } from "../context.ts";
import type { Call } from "../parse.ts";
import type { ShownElsewhere } from "../render/elsewhere.ts";
import { isShown } from "../render/sentences.ts";
import type { ShownWorker } from "../render/text.ts";
import { tellLeftOut } from "./added-kinds.ts";
import { countEnds } from "./count-ends.ts";
import { dryRun, wouldPause, wouldRestart, wouldUnpause } from "./dry-run.ts";
import { copySentence, elsewhere, elsewhereNamed } from "./elsewhere.ts";
import { chosen, nobody } from "./list.ts";
import { newestRecords } from "./logs.ts";
import { findProgram } from "./programs.ts";

/**
 * The results by id. If all failed, the error is that of the first; if some failed, PARTIAL_FAILURE. `effect` is
 * the effect on all together.
 */
export const perWorker = (results: readonly PerWorker[]): CommandResult => {
  const failed = results.filter((result) => !result.ok);
  const value = {
    effect: results.find((result) => result.ok && result.effect !== "noop")?.effect ?? "noop",
    results,
  };
  const [first] = failed;
  if (first === undefined) return success(value);
  if (failed.length === results.length && first.error !== null)
    return { ok: false, error: errorOf(first.error), value };
  const names = failed.map((result) => result.name ?? result.id).join(", ");
  const suggestion = "The result of each id is above; in JSON it is in meta.partial, in ndjson in data.";
  return {
    ok: false,
    error: new HoldfastError("PARTIAL_FAILURE", `${failed.length} of ${results.length} failed: ${names}.`, {
      suggestion,
    }),
    value,
  };
};

const errorOf = ({ code, message, suggestion }: NonNullable<PerWorker["error"]>): HoldfastError =>
  new HoldfastError(code, message, suggestion === undefined ? {} : { suggestion });

/** A failure may carry the results of workers for which the command succeeded; they are shown too. */
export const withResults = async (
  context: Context,
  what: string,
  ask: () => Promise<Outcome<{ readonly results: readonly PerWorker[] }>>,
  soFar?: () => string,
): Promise<CommandResult> => {
  const done = context.progress(what, soFar);
  const outcome = await ask().finally(done);
  return outcome.value?.results ? perWorker(outcome.value.results) : outcome;
};

/** A command is for the workers that are named, for those with a label, or for all. */
export const chosenProblems = ({ command, args, flags }: Call): readonly string[] => {
  const words = `agent ${command.words.join(" ")}`;
  const ways = [args.length > 0, flags.label !== undefined, flags.all === true].filter(Boolean).length;
  const takesAll = command.flags.some(({ name }) => name === "all");
  if (ways === 0) return [`${words} needs an ID${takesAll ? ", --label or --all" : " or --label"}`];
  return ways === 1
    ? []
    : [`${words} takes ${takesAll ? "IDs, --label or --all: one of them" : "IDs or --label, not both"}`];
};

export const kill: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = await chosen(context, client);
  if (ids.length === 0 && flags.all !== true) return perWorker([]);
  const again = flags.all ? "--all" : ids.join(" ");
  context.onInterrupt = {
    sentence: `The daemon keeps stopping them. To end their grace now: agent kill ${again}`,
  };
  const what = `stopping ${flags.all ? "all workers" : ids.join(", ")}`;
  const ask = () =>
    client.ask("agent/kill", {
      ids: [...ids],
      all: flags.all === true,
      subtree: flags.subtree === true,
      grace_ms: flags.grace as number | undefined,
      signal: flags.signal as string | undefined,
      reason: flags.reason as string | undefined,
      dry_run: flags["dry-run"] === true,
      idempotency_key: keyOf({ flags }),
    });
  if (flags["dry-run"]) return withResults(context, what, ask);
  return withResults(context, what, ask, await countEnds(context, client, flags.all ? undefined : ids));
};

export const restart: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = [...(await chosen(context, client))];
  if (ids.length === 0) return perWorker([]);
  if (!flags["dry-run"])
    context.onInterrupt = { sentence: "The daemon keeps restarting them. See: agent list" };
  return withResults(context, `restarting ${ids.join(", ")}`, () =>
    flags["dry-run"]
      ? dryRun(client, ids, wouldRestart)
      : client.ask("agent/restart", { ids, idempotency_key: keyOf({ flags }) }),
  );
};

export const pause: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = [...(await chosen(context, client))];
  if (ids.length === 0) return perWorker([]);
  const how = { reason: flags.reason as string | undefined, idempotency_key: keyOf({ flags }) };
  return withResults(context, `pausing ${ids.join(", ")}`, () =>
    flags["dry-run"] ? dryRun(client, ids, wouldPause) : client.ask("agent/pause", { ids, ...how }),
  );
};

export const unpause: CommandHandler = async (context) => {
  const { flags } = context;
  const client = await context.connect();
  const ids = [...(await chosen(context, client))];
  if (ids.length === 0) return perWorker([]);
  return withResults(context, `letting ${ids.join(", ")} go on`, () =>
    flags["dry-run"]
      ? dryRun(client, ids, wouldUnpause)
      : client.ask("agent/unpause", { ids, idempotency_key: keyOf({ flags }) }),
  );
};

export const tree: CommandHandler = async (context) => {
  if (context.flags.follow) return success(await (await import("./tree-follow.ts")).followTree(context));
  const client = await context.connect();
  const [root, others] = await Promise.all([client.request("agent/tree", {}), elsewhere(context, client)]);
  if (root.children.length === 0) context.hint(nobody(false));
  return success(others.length === 0 ? root : { ...root, elsewhere: others });
};

export const why: CommandHandler = async (context) => {
  const reply = await (await context.connect()).request("agent/why", { id: context.call.args[0]! });
  return reply.omitted > 0 ? { ...success(reply), meta: { truncated: true } } : success(reply);
};

/** How many of a worker's newest records `agent info` shows, as `systemctl status` shows the end of the journal. */
const RECENT_RECORDS = 8;

export const info: CommandHandler = async (context) => {
  const client = await context.connect();
  const ref = context.call.args[0]!;
  const found = await client.ask("agent/info", { id: ref, resources: true });
  if (!found.ok) {
    const other =
      found.error.code === "WORKER_NOT_FOUND" ? await elsewhereNamed(context, client, ref) : undefined;
    if (other === undefined) throw found.error;
    return infoOfCopy(context, client, other);
  }
  const worker = found.value;
  if (context.mode !== "text") return success(worker);
  const recent = await newestRecords(client, worker, RECENT_RECORDS, { shown: isShown });
  return success({ ...worker, recent } satisfies ShownWorker);
};

const infoOfCopy = async (
  context: Context,
  client: Client,
  worker: ElsewhereWorker,
): Promise<CommandResult> => {
  context.notice(copySentence("This is", worker));
  if (context.mode !== "text") return success(worker);
  const page = await client.ask("cluster/records", { worker: worker.name, tail: READ_PAGE_RECORDS });
  const records = page.ok ? page.value.records.filter(isShown).slice(-RECENT_RECORDS) : [];
  return success({ ...worker, recent: records } satisfies ShownElsewhere);
};

export const output: CommandHandler = async (context) => {
  const answer = await (await context.connect()).request("agent/output", { id: context.call.args[0]! });
  if (!answer.truncated) return success(answer);
  context.warn("The answer is cut; the whole output is in: agent logs --raw");
  return { ...success(answer), meta: { truncated: true } };
};

export const capabilities: CommandHandler = async (context) => {
  const client = await context.connect({ start: true });
  const { kinds, refused } = await client.request("agent/capabilities", { kind: context.call.args[0] });
  tellLeftOut(context, { refused });
  return success({
    kinds: kinds.map(({ variables: _, default_restart: _restart, variable, ...each }) => ({
      ...each,
      path: pathOf(each.binary, variable, context.env),
    })),
  });
};

/** The path at which `agent spawn` would find the kind's program now; null if the kind has none, or it was not found. */
const pathOf = (binary: string | null, variable: string | null, env: Context["env"]): string | null =>
  binary === null ? null : (findProgram((variable !== null && env[variable]) || binary, env) ?? null);
