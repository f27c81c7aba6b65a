/** agent mailbox …: messages that agents and people poll, acknowledge and answer. */
import {
  DURATION_MAX_MS,
  MAILBOX_PAGE_MAX,
  MAILBOX_PAYLOAD_MAX_BYTES,
  MAILBOX_POLL_MAX,
} from "../../base/limits.ts";
import { isDigest } from "../../protocol/forms.ts";
import type { MailType } from "../../protocol/mail-records.ts";
import { success } from "../../protocol/outcome.ts";
import type { JsonValue } from "../../protocol/talk-records.ts";
import { type CommandHandler, type Context, keyOf } from "../context.ts";
import { outlasting } from "../outlast.ts";
import { type Call, invalid } from "../parse.ts";
import { pageAsked, pageShown } from "./paging.ts";
import { readStdin } from "./spawn.ts";

/** `-` reads stdin; with --json it is a JSON value, else a text. */
const payloadOf = async (context: Context, text: string | undefined, command: string): Promise<JsonValue> => {
  if (text === undefined) return null;
  const said = text === "-" ? await readStdin(context, MAILBOX_PAYLOAD_MAX_BYTES) : text;
  let payload: JsonValue = said;
  if (context.flags.json === true)
    try {
      payload = JSON.parse(said) as JsonValue;
    } catch {
      throw invalid(["with --json, TEXT is a JSON value"], command);
    }
  if (Buffer.byteLength(JSON.stringify(payload)) > MAILBOX_PAYLOAD_MAX_BYTES)
    throw invalid(
      [
        `the message is over ${MAILBOX_PAYLOAD_MAX_BYTES} bytes: keep it with \`agent cas put\`, and send its digest with --artifact`,
      ],
      command,
    );
  return payload;
};

interface SendFlags {
  readonly type?: MailType;
  readonly artifact?: string;
  readonly ttl?: number;
  readonly delay?: number;
  readonly correlation?: string;
}

export const send: CommandHandler = async (context) => {
  const [to, text] = context.call.args;
  const flags = context.flags as SendFlags;
  const payload = await payloadOf(context, text, "mailbox send");
  const client = await context.connect();
  return success(
    await client.request("mailbox/send", {
      to: to!,
      payload,
      type: flags.type,
      artifact: flags.artifact,
      ttl_ms: flags.ttl,
      delay_ms: flags.delay,
      correlation_id: flags.correlation,
      idempotency_key: keyOf(context),
    }),
  );
};

export const reply: CommandHandler = async (context) => {
  const [correlation_id, text] = context.call.args;
  const { artifact } = context.flags as SendFlags;
  const payload = await payloadOf(context, text, "mailbox reply");
  const client = await context.connect();
  const asked = { type: "reply", correlation_id: correlation_id!, payload, artifact } as const;
  return success(await client.request("mailbox/send", asked));
};

/** Over a crash of the daemon it polls the next one. */
export const poll: CommandHandler = async (context) => {
  const [id] = context.call.args;
  const { limit, lease, timeout } = context.flags as { limit?: number; lease?: number; timeout?: number };
  const waits = context.flags.wait === true || timeout !== undefined;
  const deadline = timeout === undefined ? undefined : performance.now() + timeout;
  const left = () =>
    deadline === undefined ? DURATION_MAX_MS : Math.max(0, Math.round(deadline - performance.now()));
  const resume = () => `agent mailbox poll${id === undefined ? "" : ` ${id}`} --wait`;
  const asked = { id, limit, lease_ms: lease };
  const polled = waits
    ? await outlasting(context, { deadline, resume }, (client) =>
        client.request("mailbox/poll", { ...asked, wait_ms: left() }),
      )
    : await (await context.connect()).request("mailbox/poll", asked);
  const [first] = polled.messages;
  if (first === undefined) context.hint("No message is there.");
  else context.hint(`When it is done: agent mailbox ack ${first.token}`);
  return success({ effect: first === undefined ? "noop" : "updated", ...polled });
};

const tokenOf = ({ call }: Context): number => Number(call.args[0]);

export const ack: CommandHandler = async (context) => {
  const { reply: text, artifact } = context.flags as { reply?: string; artifact?: string };
  const answers = text !== undefined || artifact !== undefined;
  const payload = await payloadOf(context, text, "mailbox ack");
  const said = answers ? { reply: { payload, artifact } } : {};
  const client = await context.connect();
  return success(await client.request("mailbox/ack", { token: tokenOf(context), ...said }));
};

export const nack: CommandHandler = async (context) => {
  const { delay, note } = context.flags as { delay?: number; note?: string };
  const client = await context.connect();
  return success(await client.request("mailbox/nack", { token: tokenOf(context), delay_ms: delay, note }));
};

export const extend: CommandHandler = async (context) => {
  const { lease } = context.flags as { lease?: number };
  const client = await context.connect();
  return success(await client.request("mailbox/extend", { token: tokenOf(context), lease_ms: lease }));
};

export const list: CommandHandler = async (context) => {
  const [id] = context.call.args;
  const dead = context.flags.dead === true;
  const client = await context.connect();
  const page = await client.request("mailbox/list", { id, dead, ...pageAsked(context) });
  if (page.messages.length === 0) context.hint(dead ? "No dead letter is there." : "No message is there.");
  const words = [...(id === undefined ? [] : [id]), ...(dead ? ["--dead"] : [])];
  return pageShown(context, page, { words: ["agent", "mailbox", "list", ...words], there: "There are more" });
};

export const show: CommandHandler = async ({ call, connect }) =>
  success(await (await connect()).request("mailbox/show", { id: call.args[0]! }));

export const resend: CommandHandler = async ({ call, connect }) =>
  success(await (await connect()).request("mailbox/resend", { id: call.args[0]! }));

export const drop: CommandHandler = async ({ call, connect }) =>
  success(await (await connect()).request("mailbox/drop", { id: call.args[0]! }));

const artifactProblems = ({ flags: { artifact } }: Call): readonly string[] =>
  artifact === undefined || isDigest(artifact as string)
    ? []
    : ["--artifact is the digest of an artifact, as `agent cas put` prints it"];

export const sendProblems = (call: Call): readonly string[] => [
  ...(call.args.length === 1 && call.flags.artifact === undefined
    ? ["agent mailbox send needs TEXT, or --artifact"]
    : []),
  ...artifactProblems(call),
];

export const replyProblems = (call: Call): readonly string[] => [
  ...(call.args.length === 1 && call.flags.artifact === undefined
    ? ["agent mailbox reply needs TEXT, or --artifact"]
    : []),
  ...artifactProblems(call),
];

const within = (flags: Call["flags"], max: number): readonly string[] => {
  const limit = (flags.limit as number | undefined) ?? 1;
  return limit < 1 || limit > max ? [`--limit is a number from 1 to ${max}`] : [];
};

export const pollProblems = ({ flags }: Call): readonly string[] => within(flags, MAILBOX_POLL_MAX);
export const listProblems = ({ flags }: Call): readonly string[] => within(flags, MAILBOX_PAGE_MAX);

export const tokenProblems = (call: Call): readonly string[] => {
  const [token] = call.args;
  return [
    ...(token === undefined || /^[1-9]\d{0,14}$/.test(token)
      ? []
      : [`TOKEN is the number that agent mailbox poll has told, not "${token}"`]),
    ...artifactProblems(call),
  ];
};
