/** agent up, diff, down: sends a holdfast.yaml to the daemon; up and down then wait until the tree has the requested state. */
import { hostname } from "node:os";
import { relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reading } from "../../base/durations.ts";
import { referencedVariables, VARIABLE_NAME } from "../../base/environment.ts";
import { readNamed } from "../../base/files/regular-file.ts";
import { REQUEST_MAX_BYTES, TREE_POLL_MS } from "../../base/limits.ts";
import { type AddedKind, type AddedKinds, makeAddedKinds, NO_KINDS_ADDED } from "../../commands/kinds.ts";
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { mcpVariables } from "../../protocol/mcp-references.ts";
import { failure, success } from "../../protocol/outcome.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { SupervisorNode, TreeNodeSpec } from "../../protocol/tree.ts";
import {
  countUp,
  culpritOf,
  type FinalStanding,
  notUp,
  progressOf,
  treeIn,
} from "../../protocol/tree-standing.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { AppliedReply, PerWorker } from "../../runtime/api.ts";
import type { TreeSupervisor } from "../../runtime/replies.ts";
import type { Mistakes } from "../../tree-file/problems.ts";
import type { TreeFile } from "../../tree-file/read.ts";
import { type CommandHandler, type CommandResult, type Context, keyOf } from "../context.ts";
import { outlasting } from "../outlast.ts";
import type { Call } from "../parse.ts";
import { WAITS_FOR_NODE } from "../render/cluster.ts";
import { addedKinds, mayBeAdded } from "./added-kinds.ts";
import { countEnds } from "./count-ends.ts";
import { whyUnreadable } from "./read-file.ts";
import { ALWAYS_INHERITED, sentEnvironment } from "./spawn-spec.ts";

const DEFAULT_FILE = "holdfast.yaml";

const variablesOf = ({ flags }: Pick<Call, "flags">): readonly (readonly [string, string])[] =>
  (flags.var as [string, string][] | undefined) ?? [];

export const upProblems = (call: Call): readonly string[] => {
  const names = variablesOf(call).map(([name]) => name);
  const problems = names
    .filter((name) => !VARIABLE_NAME.test(name))
    .map((name) => `--var has letters, digits and _ before the =, and first no digit, not "${name}"`);
  for (const name of new Set(names.filter((each, at) => names.indexOf(each) !== at)))
    problems.push(`--var ${name} is given twice`);
  if (call.flags.wait && call.flags.detach) problems.push("--detach does not go with --wait");
  return problems;
};

export const downProblems = ({ args, flags }: Call): readonly string[] =>
  args.length > 0 && flags.file !== undefined ? ["agent down takes NAME or --file, not both"] : [];

const readText = (path: string, maxBytes: number): Reading<string> => {
  try {
    const bytes = readNamed(path, maxBytes);
    if (bytes === undefined) return { ok: false, problem: `is over ${maxBytes} bytes` };
    return { ok: true, value: bytes.toString("utf8") };
  } catch (cause) {
    return { ok: false, problem: whyUnreadable(cause) };
  }
};

/** The path as a person in this directory would write it. */
const displayFrom =
  (cwd: string) =>
  (file: string): string => {
    const short = relative(cwd, file);
    return short.startsWith("..") ? file : short;
  };

const fileOf = ({ flags, cwd }: Context): string =>
  resolve(cwd, (flags.file as string | undefined) ?? DEFAULT_FILE);

const inputOf = (context: Context) => ({
  file: fileOf(context),
  readFile: readText,
  display: displayFrom(context.cwd),
});

const mistaken = (context: Context, { message, problems, mistakes }: Mistakes): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", message, {
    problems,
    phase: "validation",
    suggestion: isThere(context)
      ? "Correct the file and run this again; docs/reference/tree-file.md has its keys."
      : "Name the file with --file, or write one: docs/reference/tree-file.md.",
    details: { ...mistakes[0], mistakes },
  });

const isThere = (context: Context): boolean => readText(fileOf(context), Number.POSITIVE_INFINITY).ok;

/** A file, and the kinds of the daemon's configuration that it uses. */
interface LoadedTreeFile extends TreeFile {
  readonly added: readonly AddedKind[];
}

/** Loaded on demand, because it loads zod and yaml. */
const readFile = async (context: Context): Promise<LoadedTreeFile> => {
  const { readTreeFile } = await import("../../tree-file/read.ts");
  const readWith = (kinds: AddedKinds): TreeFile => {
    const read = readTreeFile({
      ...inputOf(context),
      given: new Map(variablesOf(context)),
      env: context.env,
      host: hostname(),
      kinds,
    });
    if (read.ok) return read;
    throw mistaken(context, read);
  };
  const named = new Set<string>();
  const file = readWith(possibleKinds(context.stateDir, named));
  if (named.size === 0) return { ...file, added: [] };
  // Only the daemon knows the added kinds; all other mistakes were reported without it.
  const kinds = makeAddedKinds(await addedKinds(context, await context.connect({ start: true })));
  return { ...readWith(kinds), added: [...named].flatMap((typed) => kinds.find(typed) ?? []) };
};

/** Accepts every word that may name an added kind, and collects these words in `named`. */
const possibleKinds = (stateDir: string, named: Set<string>): AddedKinds => ({
  find: (typed) => {
    if (!mayBeAdded(typed, stateDir)) return undefined;
    named.add(typed);
    return { kind: typed, aliases: [], restart: "transient", variables: [] };
  },
  unknown: NO_KINDS_ADDED.unknown,
});

/** As `spawn` does for one worker: the variables of the client that agents may need, and those that the tree names, once for all workers. */
const requestOf = ({ tree, added }: LoadedTreeFile, context: Context) => {
  const named: string[] = added.flatMap(({ variables }) => variables);
  const within = <Holder extends { readonly spec: WorkerSpec }>(holder: Holder): Holder => {
    const inherit_env = [...holder.spec.inherit_env, ALWAYS_INHERITED];
    named.push(...inherit_env, ...referencedVariables(holder.spec.env), ...mcpVariables(holder.spec.mcp));
    return { ...holder, spec: { ...holder.spec, inherit_env } };
  };
  const inside = (node: TreeNodeSpec): TreeNodeSpec =>
    node.type === "supervisor" ? whole(node) : within(node);
  const whole = (node: SupervisorNode): SupervisorNode => ({ ...node, children: node.children.map(inside) });
  const root = whole(tree.root);
  const schedules = tree.schedules === undefined ? {} : { schedules: tree.schedules.map(within) };
  return { tree: { ...tree, root, ...schedules }, client_env: sentEnvironment(named, context) };
};

/** The daemon names a worker with a mistake by its path; the file adds the line. */
const withPlaces = (error: HoldfastError, { places }: TreeFile, context: Context): HoldfastError => {
  const display = displayFrom(context.cwd);
  const problems = error.info.problems?.map((problem) => {
    const place = places.get(/^([^\s:]+): /.exec(problem)?.[1] ?? "?");
    return place === undefined ? problem : `${display(place.file)}:${place.line}:${place.column}: ${problem}`;
  });
  if (problems === undefined) return error;
  return new HoldfastError(error.code, problems.length === 1 ? problems[0]! : error.message, {
    ...error.info,
    problems,
  });
};

/** The effect on the whole tree. */
interface AppliedTree extends AppliedReply {
  readonly effect: PerWorker["effect"];
}

const effectOf = ({ changes }: AppliedReply, dry_run: boolean): PerWorker["effect"] => {
  const done = changes.filter(({ action }) => action !== "unchanged" && action !== "kept_dead");
  if (done.length === 0) return "noop";
  const isNew = changes.every(({ action }) => action === "create");
  if (dry_run) return isNew ? "would_create" : "would_update";
  return isNew ? "created" : "updated";
};

const apply = async (context: Context, dry_run: boolean): Promise<AppliedTree> => {
  const file = await readFile(context);
  const request = requestOf(file, context);
  const bytes = Buffer.byteLength(JSON.stringify(request));
  if (bytes > REQUEST_MAX_BYTES)
    throw new HoldfastError(
      "REQUEST_TOO_LARGE",
      `The tree has ${bytes} bytes with its prompts; the limit of a request is ${REQUEST_MAX_BYTES}.`,
      {
        phase: "validation",
        suggestion: "Make prompts shorter, or divide the file: a daemon can have many trees.",
      },
    );
  const client = await context.connect({ start: true });
  if (!dry_run)
    context.onInterrupt = {
      sentence: "The daemon continues. See: agent tree   Stop it: agent down",
    };
  const idempotency_key = keyOf(context);
  const asked = await client.ask("tree/apply", { ...request, dry_run, idempotency_key });
  if (!asked.ok) throw withPlaces(asked.error, file, context);
  const { unseen } = asked.value;
  if (unseen !== undefined) context.warn(unseenSentence(unseen));
  for (const { name, why } of asked.value.waiting ?? [])
    context.warn(`${name} waits: ${WAITS_FOR_NODE[why]}. See: agent cluster status`);
  return { ...asked.value, effect: asked.value.effect ?? effectOf(asked.value, dry_run) };
};

export const diff: CommandHandler = async (context) => success(await apply(context, true));

export const up: CommandHandler = async (context): Promise<CommandResult> => {
  const dryRun = context.flags["dry-run"] === true;
  const reply = await apply(context, dryRun);
  if (dryRun || context.flags.detach) return success(reply);
  let soFar = "";
  const done = context.progress(`starting ${reply.tree}`, () => soFar);
  const tell = (top: TreeSupervisor): void => {
    const { up: standing, all } = countUp(top);
    soFar = all < 2 ? "" : ` (${standing} of ${all})`;
  };
  const standing = await standingOf(context, reply.tree, tell).finally(done);
  const value = { ...reply, state: standing.state };
  if (standing.is === "up") return success(value);
  return { ...failure(await whyNot(context, reply.tree, standing)), value };
};

/** Waits until the tree is up, or cannot come up. It continues after the end of a daemon, because agents and trees outlast it. */
const standingOf = (
  context: Context,
  tree: string,
  tell: (top: TreeSupervisor) => void,
): Promise<FinalStanding> =>
  outlasting(context, { start: true, resume: () => "agent up" }, async (client) => {
    for (;;) {
      const top = await treeNode(client, tree);
      if (top !== undefined) tell(top);
      const standing = progressOf(top);
      if (standing.is !== "on its way") return standing;
      await sleep(TREE_POLL_MS);
    }
  });

const treeNode = async (client: Client, tree: string): Promise<TreeSupervisor | undefined> =>
  treeIn(await client.request("agent/tree", {}), tree);

const whyNot = async (
  context: Context,
  tree: string,
  standing: Exclude<FinalStanding, { readonly is: "up" }>,
): Promise<HoldfastError> => {
  if (standing.is !== "failed") return notUp(tree, standing, undefined);
  const client = await context.connect({ start: true });
  const failed = [];
  for (const worker of standing.workers) {
    const { error, incarnation } = await client.request("agent/info", { id: worker.id });
    failed.push({ ...worker, error, incarnation });
  }
  return notUp(tree, standing, culpritOf(failed));
};

const nameOf = async (context: Context): Promise<string> => {
  const { readTreeName } = await import("../../tree-file/read.ts");
  const read = readTreeName(inputOf(context));
  if (!read.ok) throw mistaken(context, read);
  return read.name;
};

export const down: CommandHandler = async (context) => {
  const [typed] = context.call.args;
  const { flags } = context;
  const name = typed ?? (await nameOf(context));
  const client = await context.connect();
  const file = typed === undefined ? { file: fileOf(context) } : {};
  if (flags["dry-run"]) return success(await wouldStop(context, client, { name, ...file }));
  // Said before anything ends, so that a person may break it off.
  const unseen = await whyUnseen(client);
  if (unseen !== undefined)
    context.notice(
      `The cluster cannot be asked (${unseen}): ${name} is stopped on this machine, and workers of it on other nodes, if it has any, go on. Run this again when it answers: agent cluster status`,
    );
  context.onInterrupt = { sentence: "The daemon continues to stop it. See: agent tree" };
  const done = context.progress(`stopping ${name}`, await countEnds(context, client, [name]));
  try {
    const idempotency_key = keyOf({ flags });
    const reply = await client.request("tree/down", { name, ...file, idempotency_key });
    await outlasting(context, { resume: () => `agent down ${name}` }, async (next) => {
      // A tree that was brought up again since then is another one.
      while ((await treeNode(next, name))?.phase === "stopping") await sleep(TREE_POLL_MS);
    });
    return success({ ...reply, state: "terminated", effect: reply.effect ?? "deleted" });
  } finally {
    done();
  }
};

/** Why the daemon cannot ask its cluster; undefined where it can, or is no node. */
const whyUnseen = async (client: Client): Promise<string | undefined> => {
  const asked = await client.ask("cluster/status", {});
  if (asked.ok)
    return asked.value.self !== null && asked.value.nodes === null
      ? "its database does not answer"
      : undefined;
  return asked.error.code === "FILE_FAILED" ? asked.error.message : undefined;
};

const wouldStop = async (
  context: Context,
  client: Client,
  asked: RequestInput<"tree/down">,
): Promise<AppliedTree> => {
  const reply = await client.request("tree/down", { ...asked, dry_run: true });
  if (reply.unseen !== undefined) context.warn(unseenSentence(reply.unseen));
  return { ...reply, effect: "would_delete" };
};

const unseenSentence = (why: string): string =>
  `Workers that the file placed on the cluster before were not looked at: ${why}`;
