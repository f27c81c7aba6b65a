/** agent spawn: a worker's spec to the daemon, then, where asked, its records or its end. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import { PROMPT_MAX_BYTES } from "../../protocol/limits.ts";
import { success } from "../../protocol/outcome.ts";
import type { Context, Result, Streams } from "../context.ts";
import { invalid } from "../parse.ts";
import { follow, leavesRunning } from "./follow.ts";
import { promptSource, specOf } from "./spawn-spec.ts";
import { waitFor } from "./wait.ts";

/** Text on stdin, bounded; a terminal is never waited for. */
export const readStdin = async (
  streams: Pick<Streams, "stdin" | "isStdinTerminal">,
  maxBytes: number,
): Promise<string> => {
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
  return Buffer.concat(parts).toString("utf8");
};

const readPrompt = async (context: Context, from: string): Promise<string> => {
  const text =
    from === "-"
      ? await readStdin(context, PROMPT_MAX_BYTES)
      : await readPromptFile(resolve(context.cwd, from));
  if (text.trim() === "")
    throw invalid([`the prompt from ${from === "-" ? "stdin" : from} is empty`], "spawn");
  return text;
};

const readPromptFile = (path: string): Promise<string> =>
  readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw invalid([`--prompt-file ${path} cannot be read: ${cause.code ?? cause.message}`], "spawn");
  });

export const spawn = async (context: Context): Promise<Result> => {
  const { call, flags } = context;
  const spec = specOf(call, context.env, context.cwd);
  const source = promptSource(call);
  const prompt = source === undefined ? spec.prompt : await readPrompt(context, source);

  const client = await context.connect({ start: true });
  const reply = await client.request("agent/spawn", {
    spec: { ...spec, prompt },
    dry_run: flags["dry-run"] === true,
    idempotency_key: flags["idempotency-key"] as string | undefined,
  });
  if (flags["dry-run"]) return success(reply);
  const handle = reply.name ?? reply.id;
  if (reply.effect === "noop") context.warn(`A worker of this idempotency key exists already: ${handle}`);

  if (flags.watch) {
    leavesRunning(context, [handle]);
    context.hint(`${reply.id}${reply.name ? ` (${reply.name})` : ""}; Ctrl-C leaves it running`);
    await follow(context, client, { ids: [reply.id], from: 0, follow: false });
  }
  if (flags.watch || flags.wait) {
    leavesRunning(context, [handle]);
    return waitFor(context, client, [reply.id], {}, (results) => ({ ...reply, ...results[0]! }));
  }
  context.hint(`follow it: agent watch ${handle}   stop it: agent kill ${handle}`, "after");
  return success(reply);
};
