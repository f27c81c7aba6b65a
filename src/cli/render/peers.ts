/** Federation as text for people. */
import type { AuditPage, PeerChange, PeersReply, PeerView } from "../../protocol/replies/peers.ts";
import { age, pairs } from "./pairs.ts";
import { neutralise, oneLine, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { bytes, count } from "./units.ts";

const listText: TextOf<PeersReply> = ({ peers }, { paint, columns }) => {
  if (peers.length === 0) return "";
  const head = ["HUB", "TIER", "SHARED", "OPEN", "URL"].map((cell) => paint("dim", cell));
  const rows = peers.map(({ hub_id, tier, shared_capabilities, open, url }) => [
    paint("bold", hub_id),
    tier,
    String(shared_capabilities.length),
    String(open.length),
    oneLine(url),
  ]);
  return table([head, ...rows], { fit: columns });
};

const showText: TextOf<PeerView> = (peer, { paint, now }) => {
  const { data_boundary: boundary, fingerprint } = peer;
  return pairs(paint, [
    ["hub", paint("bold", peer.hub_id)],
    ["tier", `${peer.tier}${peer.tier_max === "known" ? ", and never more" : ""}`],
    [
      "terms",
      peer.source === "configuration" ? `config.yaml, federation.peers.${peer.hub_id}` : "agent peer add",
    ],
    ["url", oneLine(peer.url)],
    ["key", peer.public_key],
    ["met", peer.met_at === null ? "never" : `${age(peer.met_at, now)} ago`],
    ["may ask for", peer.shared_capabilities.join(", ")],
    ["shares", peer.capabilities.join(", ")],
    ["may cross", boundary.allow_fields.join(", ")],
    ["never crosses", boundary.deny_fields.join(", ")],
    ["at most", bytes(boundary.max_payload_size)],
    ["kept", boundary.retention === "none" ? "not" : `for ${boundary.retention}`],
    ["rate", `${peer.rate_remaining} of ${peer.rate_limit} left in this hour`],
    [
      "judged by",
      `${count(fingerprint.tasks, "task")}, ${fingerprint.failed} failed, ${fingerprint.odd} odd`,
    ],
    ["at work", peer.open.map(({ direction, capability }) => `${direction} ${capability}`).join(", ")],
  ]);
};

/** Characters of a digest that tell two of them apart by eye. */
const DIGEST_CHARS = 16;

const listed = (names: unknown): string => (Array.isArray(names) ? names.join(", ") : "");

/** The digest of a task comes first: by it two trails are compared, and a narrow terminal cuts the rest. */
const detailText = (detail: AuditPage["entries"][number]["detail"]): string => {
  const { digest, capability, fields, stripped, task_id } = detail;
  if (typeof digest !== "string") return JSON.stringify(detail);
  const without = listed(stripped);
  return [
    `sha256:${digest.slice(0, DIGEST_CHARS)}`,
    `${listed(fields) || "nothing"}${without === "" ? "" : `, without ${without}`}`,
    String(capability ?? ""),
    String(task_id),
  ].join("  ");
};

const auditText: TextOf<AuditPage> = ({ entries }, { paint, columns }) =>
  entries.length === 0
    ? ""
    : table(
        entries.map(({ seq, timestamp, actor, action, target, status, detail }) => [
          paint("dim", String(seq)),
          new Date(timestamp * 1_000).toISOString().slice(0, 19),
          status === "ok" ? status : paint("bad", status),
          oneLine(actor),
          action,
          oneLine(target),
          oneLine(detailText(detail)),
        ]),
        { fit: columns },
      );

const changeText =
  (word: string): TextOf<Pick<PeerChange, "hub_id" | "effect">> =>
  ({ hub_id, effect }, { paint }) =>
    `${paint("bold", hub_id)}  ${effect === "noop" ? paint("dim", "as it was") : word}`;

/** The answer of an agent elsewhere. */
const answerText: TextOf<{ readonly output: { readonly [name: string]: unknown } }> = ({ output }) =>
  typeof output.text === "string" ? neutralise(output.text) : JSON.stringify(output, null, 2);

/** By command. */
export const PEER_TEXTS = {
  "peer/add": changeText("added"),
  "peer/list": listText,
  "peer/show": showText,
  "peer/trust": changeText("trusted"),
  "peer/revoke": changeText("revoked"),
  "peer/connect": changeText("connected"),
  "peer/task": answerText,
  "weblisk/task": answerText,
  "audit/list": auditText,
  "audit/verify": (({ entries, hash }, { paint }) =>
    `${paint("good", "whole")}  ${count(entries, "entry", "entries")}  ${hash}`) satisfies TextOf<{
    readonly entries: number;
    readonly hash: string;
  }>,
};
