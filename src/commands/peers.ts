/** Commands of federation: hubs with which this one shares capabilities, and the audit trail. */
import {
  AUDIT_PAGE_DEFAULT,
  AUDIT_PAGE_MAX,
  FEDERATED_PAYLOAD_MAX_BYTES,
  HUB_ID_MAX_CHARS,
  PEER_RATE_MAX,
  PEER_RETENTION_MAX_HOURS,
} from "../base/limits.ts";
import { type ArgDef, inGroup } from "./command.ts";

const hub: ArgDef = {
  name: "HUB",
  help: `the name of the other hub, as a host name of at most ${HUB_ID_MAX_CHARS} characters`,
  required: true,
};

export const PEER_COMMANDS = inGroup("This machine", [
  {
    words: ["peer", "add"],
    request: "peer/add",
    danger: "mutating",
    exits: [6, 7, 11],
    summary: "Agree to federate with another hub: what it may ask for, and what may cross",
    details:
      "Nothing crosses before a handshake in which both hubs prove their keys. Names of fields are compared without case and separators, at every depth; deny beats allow. Again with other flags, it changes those terms, and the others stay. If config.yaml has federation.peers.HUB, its terms hold, and flags for terms are refused.",
    args: [hub, { name: "URL", help: "address of its federation gateway", required: true }],
    flags: [
      {
        name: "share",
        type: "string",
        value: "NS:ACTION",
        repeatable: true,
        help: "capability that it may ask for",
      },
      {
        name: "allow",
        type: "string",
        value: "FIELD",
        repeatable: true,
        help: "field that may cross",
        default: "all that are not denied",
      },
      { name: "deny", type: "string", value: "FIELD", repeatable: true, help: "field that never crosses" },
      {
        name: "max-payload",
        type: "size",
        value: "64K",
        help: "the most that may cross at once",
        default: "64K",
        max: FEDERATED_PAYLOAD_MAX_BYTES,
      },
      {
        name: "retention",
        type: "string",
        value: "none|24h",
        help: `for how long an answer may be kept, sealed: none, or up to ${PEER_RETENTION_MAX_HOURS}h`,
        default: "none",
      },
      {
        name: "rate",
        type: "int",
        value: "N",
        help: "requests of the peer in any hour",
        default: "100",
        min: 1,
        max: PEER_RATE_MAX,
      },
      {
        name: "key",
        type: "string",
        value: "KEY",
        help: "the public key that it must show",
        default: "the first one",
      },
    ],
    examples: [
      "agent peer add partner.example https://partner.example:9801 --share seo:analyze --deny email",
    ],
  },
  {
    words: ["peer", "list"],
    request: "peer/list",
    danger: "safe",
    summary: "List the hubs with which this one federates, and how far each is trusted",
    examples: ["agent peer list"],
  },
  {
    words: ["peer", "show"],
    request: "peer/show",
    danger: "safe",
    exits: [5],
    summary: "Show one hub: its terms, its tier, its behaviour, and its tasks at work",
    args: [hub],
    examples: ["agent peer show partner.example"],
  },
  {
    words: ["peer", "trust"],
    request: "peer/trust",
    danger: "mutating",
    exits: [5, 7],
    summary: "Let a verified hub act as a delegate",
    args: [hub],
    examples: ["agent peer trust partner.example"],
  },
  {
    words: ["peer", "revoke"],
    request: "peer/revoke",
    danger: "destructive",
    exits: [5, 7],
    summary: "End the federation with a hub at once: its tokens are void, its tasks are killed",
    args: [hub],
    flags: [{ name: "reason", type: "string", value: "TEXT", help: "reason for the audit trail" }],
    examples: ["agent peer revoke partner.example --reason 'contract ended'"],
  },
  {
    words: ["peer", "connect"],
    danger: "mutating",
    exits: [5, 6, 7, 8, 11],
    summary: "Show this hub to another one, and see its key: a handshake",
    details:
      "Both operators have added the other hub before. A handshake makes each of them known to the other, and gives both a token for 72 hours; a task renews it by itself. It needs a gateway here: agent weblisk serve --federation.",
    args: [hub],
    examples: ["agent peer connect partner.example"],
  },
  {
    words: ["peer", "task"],
    danger: "mutating",
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Have an agent of another hub do a task, and print its answer",
    details:
      "Denied fields are stripped before anything leaves, and from the answer. Only names and digests are recorded. A task that was cut off is asked for again with its --id: it is done once.",
    args: [
      hub,
      { name: "NS:ACTION", help: "the capability", required: true },
      { name: "PROMPT", help: "the member prompt of the payload" },
    ],
    flags: [
      { name: "inputs", type: "string", value: "JSON", help: "other members of the payload, as an object" },
      {
        name: "id",
        type: "string",
        value: "ID",
        help: "id of the task: 32 hexadecimal digits",
        default: "a new one",
      },
    ],
    examples: [
      "agent peer task partner.example content:translate 'Translate into French: good morning'",
      `agent peer task partner.example seo:analyze --inputs '{"url": "https://shop.example"}'`,
    ],
  },
  {
    words: ["audit", "list"],
    request: "audit/list",
    danger: "safe",
    summary: "List the audit trail of federation: names and digests of what crossed, never values",
    flags: [
      {
        name: "limit",
        type: "int",
        value: "N",
        help: `list at most this many, up to ${AUDIT_PAGE_MAX}`,
        default: String(AUDIT_PAGE_DEFAULT),
        min: 1,
        max: AUDIT_PAGE_MAX,
      },
      {
        name: "after",
        type: "int",
        value: "SEQ",
        help: "only entries after the record with this number",
        min: 0,
      },
    ],
    examples: ["agent audit list", "agent audit list --after 812 -o json"],
  },
  {
    words: ["audit", "verify"],
    danger: "safe",
    exits: [6],
    summary: "Check that no entry of the audit trail was changed, removed or put in",
    details:
      "Each entry has the SHA-256 of the one before. Keep the printed hash elsewhere: with --head the trail must still contain it, so that a trail that was cut or written anew is found too.",
    flags: [{ name: "head", type: "string", value: "HASH", help: "hash that an earlier check has printed" }],
    examples: ["agent audit verify"],
  },
]);
