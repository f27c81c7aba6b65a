/** agent spawn: sends a worker's spec to the daemon, then, if asked, follows its records or waits for its end. */
import { resolve } from "node:path";
import { parseLine } from "../../base/json.ts";
import { MCP_FILE_MAX_BYTES, OUTPUT_SCHEMA_MAX_BYTES, PROMPT_MAX_BYTES } from "../../base/limits.ts";
import { kindOf, PROGRAM_KIND } from "../../commands/kinds.ts";
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import type { SpawnReply } from "../../runtime/replies.ts";
import { type CommandResult, type Context, keyOf, type Streams } from "../context.ts";
import { type Call, invalid } from "../parse.ts";
import { WAITS_FOR_NODE } from "../render/cluster.ts";
import { addedKind } from "./added-kinds.ts";
import { follow, leavesRunning } from "./follow.ts";
import { readBounded, whyUnreadable } from "./read-file.ts";
import { nextStep } from "./spawn-conditions.ts";
import { promptSource, specOf } from "./spawn-spec.ts";
import { waitFor } from "./wait.ts";

type Stdin = Pick<Streams, "stdin" | "isStdinTerminal">;

/** The bytes on stdin, bounded; a terminal is never read. */
export const readStdinBytes = async (streams: Stdin, maxBytes: number): Promise<Buffer> => {
  if (streams.isStdinTerminal()) throw new HoldfastError("INPUT_REQUIRED", "Nothing is piped to stdin.");
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of streams.stdin()) {
    size += part.length;
    if (size > maxBytes)
      throw new HoldfastError("REQUEST_TOO_LARGE", `The text on stdin is over ${maxBytes} bytes.`, {
        phase: "validation",
      });
    parts.push(part);
  }
  return Buffer.concat(parts);
};

export const readStdin = async (streams: Stdin, maxBytes: number): Promise<string> =>
  (await readStdinBytes(streams, maxBytes)).toString("utf8");

export const readPrompt = async (context: Context, from: string): Promise<string> => {
  const text =
    from === "-"
      ? await readStdin(context, PROMPT_MAX_BYTES)
      : await readPromptFile(resolve(context.cwd, from));
  if (text.trim() === "")
    throw invalid([`the prompt from ${from === "-" ? "stdin" : from} is empty`], "spawn");
  return text;
};

const readPromptFile = (path: string): Promise<string> => readNamed("prompt-file", path, PROMPT_MAX_BYTES);

const readNamed = async (flag: string, path: string, maxBytes: number): Promise<string> => {
  try {
    const bytes = await readBounded(path, maxBytes);
    if (bytes !== undefined) return bytes.toString("utf8");
  } catch (cause) {
    throw invalid([`--${flag} ${path} ${whyUnreadable(cause)}`], "spawn");
  }
  throw invalid([`--${flag} ${path} is over ${maxBytes} bytes`], "spawn");
};

/** The daemon checks the schema itself. */
const readOutputSchema = async (
  { cwd }: Context,
  { flags }: Call,
): Promise<WorkerSpecInput["output_schema"]> => {
  const asked = flags["output-schema"] as string | undefined;
  if (asked === undefined) return undefined;
  const path = resolve(cwd, asked);
  const schema = parseLine(await readNamed("output-schema", path, OUTPUT_SCHEMA_MAX_BYTES));
  if (typeof schema === "string") throw invalid([`--output-schema ${path} holds no JSON object`], "spawn");
  return schema as WorkerSpecInput["output_schema"];
};

/**
 * `{ "mcpServers": { … } }`, or the bare map. Other members beside mcpServers belong to the CLI whose file it is. The daemon
 * checks the servers themselves.
 */
const readMcp = async ({ cwd }: Context, { flags }: Call): Promise<WorkerSpecInput["mcp"]> => {
  const asked = flags.mcp as string | undefined;
  if (asked === undefined) return undefined;
  const path = resolve(cwd, asked);
  const read = parseLine(await readNamed("mcp", path, MCP_FILE_MAX_BYTES));
  if (typeof read === "string") throw invalid([`--mcp ${path} holds no JSON object`], "spawn");
  return (read.mcpServers ?? read) as WorkerSpecInput["mcp"];
};

export const spawn = (context: Context): Promise<CommandResult> => spawnFrom(context, context.call);

/** The spec that `call` requests, and a connection. The prompt is read before a daemon is started. `more`: MCP servers beside those of --mcp, which win by name. */
export const askedSpec = async (
  context: Context,
  call: Call,
  more: WorkerSpecInput["mcp"] = {},
): Promise<{ readonly client: Client; readonly spec: WorkerSpecInput }> => {
  const source = promptSource(call);
  const prompt = source === undefined ? undefined : await readPrompt(context, source);

  const output_schema = await readOutputSchema(context, call);
  const read = await readMcp(context, call);
  const mcp = Object.keys(more).length === 0 ? read : { ...more, ...read };

  const client = await context.connect({ start: true });
  const [typed = PROGRAM_KIND] = call.args;
  const added = kindOf(typed) === undefined ? await addedKind(context, client, typed) : undefined;
  const spec = specOf(call, context, added, mcp);
  return { client, spec: { ...spec, prompt: prompt ?? spec.prompt, output_schema } };
};

/** The answer; a failure with the next step for this kind. */
export const told = <T>(asked: Outcome<T>, kind: string): T => {
  if (asked.ok) return asked.value;
  const { code, message, info } = asked.error;
  throw new HoldfastError(code, message, { ...info, suggestion: nextStep(code, kind) ?? info.suggestion });
};

/** `call`: as it would stand on the command line of spawn. */
export const spawnFrom = async (context: Context, call: Call): Promise<CommandResult> => {
  const { flags } = context;
  const { client, spec } = await askedSpec(context, call);
  if (!flags["dry-run"])
    context.onInterrupt = { sentence: "The worker may have been started all the same. See: agent list" };
  const asked = await client.ask("agent/spawn", {
    spec,
    dry_run: flags["dry-run"] === true,
    idempotency_key: keyOf({ flags }),
  });
  const reply = told(asked, spec.kind);
  const { waits_for } = reply;
  if (waits_for !== undefined)
    context.warn(`${reply.id} waits: ${WAITS_FOR_NODE[waits_for]}. See: agent cluster status`);
  return begun(context, reply);
};

/** The result for a requested worker: its id, its records or its end. */
export const begun = async (context: Context, reply: SpawnReply): Promise<CommandResult> => {
  const {
    flags,
    call: { defaults },
  } = context;
  if (flags["dry-run"]) return success({ ...reply, ...(defaults && { defaults }) });
  const handle = reply.name ?? reply.id;
  if (reply.effect === "noop") context.warn(`A worker of this idempotency key exists already: ${handle}`);

  if (flags.watch) {
    leavesRunning(context, [handle]);
    context.hint(`${reply.id}${reply.name ? ` (${reply.name})` : ""}; Ctrl-C leaves it running`);
    await follow(context, { ids: [reply.id], from: 0, follow: false }, { start: true });
  }
  if (flags.watch || flags.wait) {
    leavesRunning(context, [handle]);
    return waitFor(context, [reply.id], {
      start: true,
      names: [handle],
      shape: (results) => ({ ...reply, ...results[0]! }),
    });
  }
  context.hint(`follow it: agent logs -f ${handle}   stop it: agent kill ${handle}`, "after");
  return success(reply);
};
