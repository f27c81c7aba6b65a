/** agent schedule …: workers that start at times. */
import { success } from "../../protocol/outcome.ts";
import type { MissedPolicy, OverlapPolicy } from "../../protocol/schedule-records.ts";
import { type CommandHandler, type Context, keyOf } from "../context.ts";
import type { Call, CallPlace } from "../parse.ts";
import { pageAsked, pageShown } from "./paging.ts";
import { askedSpec, told } from "./spawn.ts";
import { spawnConditions } from "./spawn-conditions.ts";
import { spawnGate, spawnProblems } from "./spawn-spec.ts";

/** NAME and CRON. */
const OWN_ARGS = 2;

/** The words behind NAME and CRON, as `agent spawn` would have them. */
const spawned = ({ behind, ...call }: Call): Call => ({
  ...call,
  args: call.args.slice(OWN_ARGS),
  ...(behind === undefined || behind.at < OWN_ARGS
    ? {}
    : { behind: { ...behind, at: behind.at - OWN_ARGS } }),
});

/** The registry tells a NAME or a CRON that is missing. */
const isWhole = ({ args }: Call): boolean => args.length >= OWN_ARGS;

export const addProblems = (call: Call, place?: CallPlace): readonly string[] =>
  isWhole(call) ? spawnProblems(spawned(call), place) : [];
export const addGate: typeof spawnGate = (call) => (isWhole(call) ? spawnGate(spawned(call)) : undefined);
export const addConditions: typeof spawnConditions = (call, place) =>
  isWhole(call) ? spawnConditions(spawned(call), place) : [];

export const add: CommandHandler = async (context) => {
  const { call, flags } = context;
  const [name, cron] = call.args as [string, string];
  const { client, spec } = await askedSpec(context, spawned(call));
  context.onInterrupt = { sentence: "The schedule may be there all the same. See: agent schedule list" };
  const { parent: _, ...own } = spec;
  const asked = await client.ask("schedule/add", {
    schedule: {
      name,
      cron,
      zone: flags.zone as string | undefined,
      overlap: flags.overlap as OverlapPolicy | undefined,
      missed: flags.missed as MissedPolicy | undefined,
      missed_max: flags["missed-max"] as number | undefined,
      starting_deadline_ms: flags["starting-deadline"] as number | undefined,
      spec: own,
    },
    idempotency_key: keyOf(context),
  });
  const reply = told(asked, spec.kind);
  context.hint(`see it: agent schedule show ${name}   start it now: agent schedule run ${name}`, "after");
  return success(reply);
};

export const list: CommandHandler = async (context) => {
  const page = await (await context.connect()).request("schedule/list", pageAsked(context));
  if (page.schedules.length === 0)
    context.hint("No schedule. Add one with: agent schedule add NAME CRON -- PROGRAM");
  return pageShown(context, page, { words: ["agent", "schedule", "list"], there: "There are more" });
};

const named = ({ call }: Context): { readonly name: string } => ({ name: call.args[0] as string });

export const show: CommandHandler = async (context) =>
  success(await (await context.connect()).request("schedule/show", named(context)));

const changing =
  (request: "schedule/remove" | "schedule/pause" | "schedule/resume" | "schedule/run"): CommandHandler =>
  async (context) => {
    const client = await context.connect();
    return success(await client.request(request, { ...named(context), idempotency_key: keyOf(context) }));
  };

export const remove = changing("schedule/remove");
export const pause = changing("schedule/pause");
export const resume = changing("schedule/resume");

export const run: CommandHandler = async (context) => {
  const result = await changing("schedule/run")(context);
  const { worker } = result.value as { readonly worker: string | null };
  context.hint(`follow it: agent logs -f ${worker}`, "after");
  return result;
};

/** The daemon knows the zone that a schedule without one would have. */
export const next: CommandHandler = async (context) => {
  const { call, flags } = context;
  const client = await context.connect({ start: true });
  return success(
    await client.request("schedule/next", {
      cron: call.args[0] as string,
      zone: flags.zone as string | undefined,
      from: flags.from as string | undefined,
      limit: flags.limit as number | undefined,
    }),
  );
};
