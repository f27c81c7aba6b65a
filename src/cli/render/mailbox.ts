/** Messages of mailboxes, as `agent mailbox` tells them. */
import type {
  MailAckReply,
  MailLeaseReply,
  MailListReply,
  MailPollReply,
  MailSentReply,
  MailView,
} from "../../protocol/replies/mail.ts";
import { neutralise, oneLine, type Paint, type Tone, table } from "./terminal.ts";
import { duration } from "./units.ts";

interface MailText {
  readonly paint: Paint;
  readonly now: number;
  readonly columns?: number | undefined;
}

const TONES: Readonly<Record<MailView["state"], Tone>> = {
  ready: "good",
  delayed: "plain",
  leased: "plain",
  dead: "bad",
};

/** It is the last column: a terminal cuts it at its edge, and a pipe gets it whole. */
const PAYLOAD_MAX_CHARS = 32_768;

const payloadText = ({ payload, artifact }: Pick<MailView, "payload" | "artifact">): string => {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  if (artifact === null) return text;
  return payload === null ? artifact : `${text} ${artifact}`;
};

const senderOf = ({ from, from_name }: MailView): string => oneLine(from_name ?? from, 40);

const left = (at: string | null, now: number): string =>
  at === null ? "" : duration(Math.max(0, Date.parse(at) - now));

/** How long its state lasts. */
const detail = (mail: MailView, now: number): string => {
  const tries = mail.attempt === 0 ? "" : `${mail.attempt}/${mail.attempts_max}`;
  switch (mail.state) {
    case "dead":
      return mail.cause === "expired" ? "expired" : `${mail.attempt} attempts`;
    case "leased":
      return `${tries} by ${oneLine(mail.holder ?? "", 40)} for ${left(mail.visible_at, now)}`;
    case "delayed":
      return `${tries} in ${left(mail.visible_at, now)}`.trim();
    case "ready":
      return tries;
  }
};

const mailListText = ({ messages }: MailListReply, { paint, now, columns }: MailText): string => {
  if (messages.length === 0) return "";
  const head = ["ID", "TYPE", "FROM", "STATE", "", "AGE", "PAYLOAD"].map((cell) => paint("dim", cell));
  const rows = messages.map((mail) => [
    mail.message_id,
    mail.type,
    senderOf(mail),
    paint(TONES[mail.state], mail.state),
    detail(mail, now),
    duration(Math.max(0, now - Date.parse(mail.sent_at))),
    oneLine(payloadText(mail), PAYLOAD_MAX_CHARS),
  ]);
  return table([head, ...rows], { fit: columns });
};

/** The payload below a line of facts: what an agent reads in its shell. */
const mailPollText = ({ messages }: MailPollReply, { paint, now }: MailText): string =>
  messages
    .map((mail) => {
      const about = `${mail.type} ${mail.message_id} from ${senderOf(mail)}, token ${mail.token}, attempt ${mail.attempt} of ${mail.attempts_max}, lease ${left(mail.visible_at, now)}`;
      const answers = mail.correlation_id === null ? "" : `, answers ${oneLine(mail.correlation_id, 40)}`;
      return `${paint("dim", about + answers)}\n${neutralise(payloadText(mail))}`;
    })
    .join("\n\n");

const mailText = (mail: MailView, { paint, now }: MailText): string => {
  const rows: readonly (readonly [string, string])[] = [
    ["id", mail.message_id],
    ["type", mail.type],
    ["from", senderOf(mail)],
    ["to", mail.to],
    ["state", `${paint(TONES[mail.state], mail.state)} ${detail(mail, now)}`.trim()],
    ["sent", mail.sent_at],
    ...(mail.expires_at === null ? [] : [["expires", mail.expires_at] as const]),
    ...(mail.died_at === null ? [] : [["died", mail.died_at] as const]),
    ...(mail.correlation_id === null ? [] : [["answers", oneLine(mail.correlation_id, 64)] as const]),
    ...(mail.note === null ? [] : [["given back", oneLine(mail.note, PAYLOAD_MAX_CHARS)] as const]),
  ];
  return `${table(rows.map(([name, value]) => [paint("dim", name), value]))}\n\n${neutralise(payloadText(mail))}`;
};

const mailSentText = ({ message_id, effect }: MailSentReply, { paint }: MailText): string =>
  effect === "noop" ? paint("dim", `${message_id} (sent before)`) : message_id;

const mailAckText = ({ reply_id }: MailAckReply, { paint }: MailText): string =>
  paint("dim", reply_id === undefined ? "acknowledged" : "acknowledged and answered");

const mailLeaseText = ({ state, visible_at }: MailLeaseReply, { paint, now }: MailText): string => {
  const until = visible_at === null ? "" : ` for ${left(visible_at, now)}`;
  return paint(
    state === "dead" ? "bad" : "dim",
    state === "dead" ? "it is a dead letter now" : `${state}${until}`,
  );
};

const dim =
  (text: string) =>
  (_: unknown, { paint }: MailText): string =>
    paint("dim", text);

/** By command. */
export const MAIL_TEXTS = {
  "mailbox/send": mailSentText,
  "mailbox/reply": mailSentText,
  "mailbox/poll": mailPollText,
  "mailbox/ack": mailAckText,
  "mailbox/nack": mailLeaseText,
  "mailbox/extend": mailLeaseText,
  "mailbox/list": mailListText,
  "mailbox/show": mailText,
  "mailbox/resend": dim("sent again"),
  "mailbox/drop": dim("dropped"),
};
