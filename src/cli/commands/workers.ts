/** The short commands about workers: one request, one answer. */

import { LIST_PAGE_MAX_WORKERS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { Answer, PerWorker } from "../../runtime/api.ts";
import type { Context, Handler, Result } from "../context.ts";
import type { Call } from "../parse.ts";
import { isShown } from "../render/sentences.ts";
import type { ShownWorker } from "../render/text.ts";
import { tellLeftOut } from "./added-kinds.ts";
import { dryRun, wouldPause, wouldRestart, wouldUnpause } from "./dry-run.ts";
import { newestRecords } from "./logs.ts";
import { findProgram } from "./programs.ts";

/** Per id; all failing is the first one's error, some failing is PARTIAL_FAILURE (cli.md). `effect` is what was done at all. */
export const perWorker = (results: readonly PerWorker[]): Result => {
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

/** A failure may carry the results of those that went well: they are shown all the same. */
const withResults = async (
  context: Context,
  what: string,
  ask: () => Promise<Outcome<{ readonly results: readonly PerWorker[] }>>,
): Promise<Result> => {
  const done = context.progress(what);
  const outcome = await ask().finally(done);
  return outcome.value?.results ? perWorker(outcome.value.results) : outcome;
};

/** Under which a repeat does nothing. */
const keyOf = (flags: Call["flags"]): string | undefined => flags["idempotency-key"] as string | undefined;

export const killProblems = ({ args, flags }: Call): readonly string[] => {
  if (args.length === 0 && !flags.all) return ["agent kill needs an ID, or --all"];
  return args.length > 0 && flags.all ? ["agent kill takes IDs or --all, not both"] : [];
};

export const kill: Handler = async (context) => {
  const { call, flags } = context;
  const client = await context.connect();
  const again = flags.all ? "--all" : call.args.join(" ");
  context.onInterrupt = {
    sentence: `The daemon goes on stopping them. To end their grace now: agent kill ${again}`,
  };
  return withResults(context, `stopping ${flags.all ? "all workers" : call.args.join(", ")}`, () =>
    client.ask("agent/kill", {
      ids: [...call.args],
      all: flags.all === true,
      subtree: flags.subtree === true,
      grace_ms: flags.grace as number | undefined,
      signal: flags.signal as string | undefined,
      reason: flags.reason as string | undefined,
      dry_run: flags["dry-run"] === true,
      idempotency_key: keyOf(flags),
    }),
  );
};

export const restart: Handler = async (context) => {
  const { call, flags } = context;
  const client = await context.connect();
  const ids = [...call.args];
  if (!flags["dry-run"])
    context.onInterrupt = { sentence: "The daemon goes on restarting them. See: agent list" };
  return withResults(context, `restarting ${ids.join(", ")}`, () =>
    flags["dry-run"]
      ? dryRun(client, ids, wouldRestart)
      : client.ask("agent/restart", { ids, idempotency_key: keyOf(flags) }),
  );
};

export const pause: Handler = async (context) => {
  const { call, flags } = context;
  const client = await context.connect();
  const ids = [...call.args];
  const how = { reason: flags.reason as string | undefined, idempotency_key: keyOf(flags) };
  return withResults(context, `pausing ${ids.join(", ")}`, () =>
    flags["dry-run"] ? dryRun(client, ids, wouldPause) : client.ask("agent/pause", { ids, ...how }),
  );
};

export const unpause: Handler = async (context) => {
  const { call, flags } = context;
  const client = await context.connect();
  const ids = [...call.args];
  return withResults(context, `letting ${ids.join(", ")} go on`, () =>
    flags["dry-run"]
      ? dryRun(client, ids, wouldUnpause)
      : client.ask("agent/unpause", { ids, idempotency_key: keyOf(flags) }),
  );
};

export const answer: Handler = async ({ call, flags, connect }) => {
  const [id, said] = call.args;
  const asked = { id: id!, answer: said as Answer, idempotency_key: keyOf(flags) };
  const reply = await (await connect()).request("agent/answer", asked);
  return success({ ...reply, effect: reply.effect ?? "updated" });
};

export const list: Handler = async (context) => {
  const { flags } = context;
  const all = flags.all === true;
  const asked = flags.limit as number | undefined;
  const limit = asked === 0 ? undefined : (asked ?? LIST_PAGE_MAX_WORKERS);
  const client = await context.connect();
  const reply = await client.request("agent/list", {
    all,
    limit,
    cursor: flags.cursor as string | undefined,
  });
  if (reply.workers.length === 0) context.hint(nobody(all));
  if (reply.cursor === undefined) return success(reply);
  const next = `agent list${all ? " --all" : ""} --limit ${limit} --cursor ${reply.cursor}`;
  const more = `These are ${reply.workers.length} of ${reply.total} workers; the next page: ${next}`;
  if (asked === undefined) context.warn(more);
  else context.hint(more, "after");
  return { ...success(reply), meta: { truncated: true, cursor: reply.cursor } };
};

const nobody = (all: boolean): string =>
  all
    ? "No workers yet. Start one with: agent spawn -- sleep 60"
    : "No workers are running. See ended ones with: agent list --all";

export const tree: Handler = async (context) => {
  if (context.flags.follow) return success(await (await import("./tree-follow.ts")).followTree(context));
  const root = await (await context.connect()).request("agent/tree", {});
  if (root.children.length === 0) context.hint(nobody(false));
  return success(root);
};

export const why: Handler = async (context) => {
  const reply = await (await context.connect()).request("agent/why", { id: context.call.args[0]! });
  return reply.omitted > 0 ? { ...success(reply), meta: { truncated: true } } : success(reply);
};

/** The number of a worker's newest records that a person sees, as `systemctl status` shows the end of the journal. */
const RECENT_RECORDS = 8;

export const info: Handler = async (context) => {
  const client = await context.connect();
  const worker = await client.request("agent/info", { id: context.call.args[0]! });
  if (context.mode !== "text") return success(worker);
  const recent = await newestRecords(client, worker, RECENT_RECORDS, { shown: isShown });
  return success({ ...worker, recent } satisfies ShownWorker);
};

export const output: Handler = async (context) => {
  const answer = await (await context.connect()).request("agent/output", { id: context.call.args[0]! });
  if (!answer.truncated) return success(answer);
  context.warn("The answer is cut; the whole output is in: agent logs --raw");
  return { ...success(answer), meta: { truncated: true } };
};

export const capabilities: Handler = async (context) => {
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

/** The path at which `agent spawn` would find the kind's program now; null where it has none of its own, or it is not found. */
const pathOf = (binary: string | null, variable: string | null, env: Context["env"]): string | null =>
  binary === null ? null : (findProgram((variable !== null && env[variable]) || binary, env) ?? null);
