/** The three kinds of target: each sends one notification once, and says how that went. It never rejects. */
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { NOTIFY_ANSWER_MAX_BYTES, NOTIFY_SEND_MAX_MS } from "../../base/limits.ts";
import { isSecretReference, readReference, type Secrets } from "../../base/secrets/references.ts";
import type { Sending } from "../../control/notify/outbox.ts";
import type { NotificationTarget } from "../../protocol/notifications.ts";
import { messageOf, ntfyMessageOf, type OutgoingNotice } from "./message.ts";
import { post } from "./post.ts";

export interface SenderGround {
  readonly secrets: Secrets;
  /** The variables of a program: those that every program needs, and those of the user's session. */
  readonly env: Readonly<Record<string, string>>;
  readonly wallMs: () => number;
}

/** The place to which a target sends, for people: no path and no topic, which may be secrets. */
export const placeOf = ({ webhook, command, ntfy }: NotificationTarget) => {
  if (command !== undefined) return { type: "command", to: command.argv[0] ?? "" } as const;
  if (ntfy !== undefined) return { type: "ntfy", to: new URL(ntfy.url).host } as const;
  return { type: "webhook", to: URL.parse(webhook?.url ?? "")?.host ?? "" } as const;
};

export const sendNotice = async (
  target: NotificationTarget,
  outgoing: OutgoingNotice,
  ground: SenderGround,
): Promise<Sending> => {
  try {
    const { webhook, command, ntfy, private: isPrivateAllowed } = target;
    if (webhook !== undefined) return await byWebhook(webhook, outgoing, ground, isPrivateAllowed);
    if (ntfy !== undefined) return await byNtfy(ntfy, outgoing, ground, isPrivateAllowed);
    return await byProgram(command!, outgoing, ground);
  } catch (cause) {
    return { ok: false, reason: (cause as Error).message };
  }
};

const secretIn = async (reference: string, { secrets }: SenderGround): Promise<string> => {
  const { value, place } = await readReference(reference, secrets);
  if (value === "") throw new Error(`${place} has no secret.`);
  return value;
};

const SECRET_MIN_BYTES = 16;
const MS_PER_S = 1_000;

/** The headers of Standard Webhooks (https://www.standardwebhooks.com), version 1: HMAC-SHA256 of `ID.TIME.BODY`. */
const webhookHeaders = (id: string, secret: string, body: string, now_ms: number) => {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length < SECRET_MIN_BYTES)
    throw new Error(`The secret of a webhook is whsec_ and Base64 of at least ${SECRET_MIN_BYTES} bytes.`);
  const timestamp = String(Math.floor(now_ms / MS_PER_S));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
};

const byWebhook = async (
  { url, secret }: NonNullable<NotificationTarget["webhook"]>,
  outgoing: OutgoingNotice,
  ground: SenderGround,
  isPrivateAllowed: boolean,
): Promise<Sending> => {
  const body = JSON.stringify(messageOf(outgoing));
  const headers = webhookHeaders(outgoing.notice.id, await secretIn(secret, ground), body, ground.wallMs());
  return post({ url, headers, body, isPrivateAllowed });
};

const byNtfy = async (
  { url, topic, token }: NonNullable<NotificationTarget["ntfy"]>,
  outgoing: OutgoingNotice,
  ground: SenderGround,
  isPrivateAllowed: boolean,
): Promise<Sending> => {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers.authorization = `Bearer ${await secretIn(token, ground)}`;
  return post({ url, headers, body: JSON.stringify(ntfyMessageOf(outgoing, topic)), isPrivateAllowed });
};

const byProgram = async (
  { argv: [program = "", ...args], env }: NonNullable<NotificationTarget["command"]>,
  outgoing: OutgoingNotice,
  ground: SenderGround,
): Promise<Sending> => {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    own[name] = isSecretReference(value) ? await secretIn(value, ground) : value;
  return new Promise((resolve) => {
    const options = {
      env: { ...ground.env, ...own },
      cwd: "/",
      timeout: NOTIFY_SEND_MAX_MS,
      killSignal: "SIGKILL",
      maxBuffer: NOTIFY_ANSWER_MAX_BYTES,
    } as const;
    const child = execFile(program, args, options, (failure, _, stderr) => {
      if (failure === null) return resolve({ ok: true });
      const said = stderr.trim().split("\n").at(-1) ?? "";
      resolve({ ok: false, reason: `${wayOf(failure, program)}${said === "" ? "" : ` ${said}`}` });
    });
    // A program that does not read its input is none the worse for it.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(`${JSON.stringify(messageOf(outgoing))}\n`);
  });
};

const wayOf = (
  { code, signal, killed }: { code?: string | number | null; signal?: string | null; killed?: boolean },
  program: string,
): string => {
  if (killed === true && code === undefined)
    return `${program} took longer than ${NOTIFY_SEND_MAX_MS / MS_PER_S} s.`;
  if (typeof code === "number") return `${program} ended with code ${code}.`;
  if (signal) return `${program} was ended by ${signal}.`;
  return `${program} could not be run: ${code}.`;
};
