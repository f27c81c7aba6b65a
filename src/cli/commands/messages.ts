/** agent send, ask and messages: messages to agents that read their input. */
import { MESSAGE_TO_AGENT_MAX_BYTES, MESSAGES_PAGE_MAX } from "../../base/limits.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { type CommandHandler, type Context, keyOf } from "../context.ts";
import { outlasting } from "../outlast.ts";
import { type Call, invalid } from "../parse.ts";
import { duration } from "../render/units.ts";
import { needsAside, standingStill } from "./needs-aside.ts";
import { pageAsked, pageShown } from "./paging.ts";
import { readStdin } from "./spawn.ts";

/** An agent that reads stdin reads lines. */
const asLine = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

const messageOf = async (context: Context, text: string, command: string): Promise<string> => {
  const message = text === "-" ? await readStdin(context, MESSAGE_TO_AGENT_MAX_BYTES) : asLine(text);
  if (Buffer.byteLength(message) > MESSAGE_TO_AGENT_MAX_BYTES)
    throw invalid([`the message is over ${MESSAGE_TO_AGENT_MAX_BYTES} bytes`], command);
  return message;
};

export const sendProblems = ({ args, flags }: Call): readonly string[] =>
  args.length < 2 && !flags.close ? ["agent send needs TEXT, or --close"] : [];

export const send: CommandHandler = async (context) => {
  const { call, flags } = context;
  const [id, text] = call.args;
  const client = await context.connect();
  const reply = await client.request("agent/send", {
    id: id!,
    text: text === undefined ? undefined : await messageOf(context, text, "send"),
    close: flags.close === true,
    idempotency_key: keyOf({ flags }),
  });
  const waits = reply.state === "accepted" ? await standingStill(client, id!) : undefined;
  if (waits !== undefined) context.warn(waits);
  return success(reply);
};

/** After a crash of the daemon it repeats the request with the same key, so the agent gets the question only once. */
export const ask: CommandHandler = async (context) => {
  const { call, flags } = context;
  const [id, text] = call.args;
  const message = await messageOf(context, text!, "ask");
  const idempotency_key = keyOf({ flags }) ?? crypto.randomUUID();
  const timeout = flags.timeout as number | undefined;
  const deadline = timeout === undefined ? undefined : performance.now() + timeout;
  const left = () =>
    deadline === undefined ? undefined : Math.max(0, Math.round(deadline - performance.now()));
  const done = context.progress(`waiting for the answer of ${id}`);
  const resume = () => `agent messages ${id}`;
  const aside = needsAside(context, [id!]);
  context.onInterrupt = { sentence: `The question stays with the worker. See: ${resume()}` };
  try {
    const answer = await outlasting(context, { deadline, resume }, (client) =>
      aside.beside(client, () =>
        client.request("agent/ask", { id: id!, text: message, timeout_ms: left(), idempotency_key }),
      ),
    );
    const told = success({ ...answer, effect: "created" });
    if (!answer.truncated) return told;
    context.warn("The answer is cut; the whole output is in: agent logs --raw");
    return { ...told, meta: { truncated: true } };
  } catch (cause) {
    const error = asHoldfastError(cause);
    const expires = error.info.details?.by === "mailbox";
    if (error.code !== "TIMEOUT" || timeout === undefined || expires) throw error;
    throw new HoldfastError(
      "TIMEOUT",
      `${id} did not answer within ${duration(timeout)}; the question stays with it.`,
      { ...error.info, suggestion: `See how far it is: ${resume()}` },
    );
  } finally {
    done();
  }
};

export const messagesProblems = ({ flags }: Call): readonly string[] => {
  const limit = (flags.limit as number | undefined) ?? 1;
  return limit < 1 || limit > MESSAGES_PAGE_MAX ? [`--limit is a number from 1 to ${MESSAGES_PAGE_MAX}`] : [];
};

export const messages: CommandHandler = async (context) => {
  const id = context.call.args[0]!;
  const page = await (await context.connect()).request("agent/messages", { id, ...pageAsked(context) });
  return pageShown(context, page, { words: ["agent", "messages", id], there: "There are older messages" });
};
