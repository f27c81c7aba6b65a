/** Commands of Weblisk: this machine's agents on its wire, and the rights of those that registered. */
import type { FlagDef } from "../base/flag.ts";
import {
  FEDERATION_PORT_DEFAULT,
  WEBLISK_CONCURRENT_DEFAULT,
  WEBLISK_PORT_DEFAULT,
  WORKERS_LIVE_MAX,
} from "../base/limits.ts";
import { ACCEPTED_PROFILES, AGENT_CAPABILITIES } from "../protocol/words.ts";
import { type ArgDef, inGroup } from "./command.ts";
import { spawnFlagsBut } from "./spawn-flags.ts";

/** A task says these itself, or it is the conversation of one answer. */
const TASK_FLAGS = spawnFlagsBut(
  "interactive",
  "name",
  "prompt-file",
  "cwd",
  "priority",
  "deadline",
  "session",
  "fork",
  "dry-run",
  "watch",
  "wait",
  "detach",
  "verbose",
  "idempotency-key",
);

const orchestrator: ArgDef = {
  name: "URL",
  help: "the orchestrator's address: https://, or http:// on this machine",
  required: true,
};
const as: FlagDef = {
  name: "as",
  type: "string",
  value: "NAME",
  help: "identity whose key signs, which is also the name there",
  default: "this state directory's own, as hub-FINGERPRINT",
};

export const WEBLISK_COMMANDS = inGroup("This machine", [
  {
    words: ["weblisk", "serve"],
    danger: "mutating",
    exits: [5, 6, 7],
    argv: true,
    summary: "Serve agents over Weblisk's wire: each KIND is an agent, and each task a worker",
    details:
      "Prints its URL, and serves until it is stopped (docs/how-to/weblisk.md). Every worker is started with these flags. A registration gives no rights: a person grants them. Workers go on if this server ends; the next one knows their tasks.",
    args: [
      {
        name: "[NAME=]KIND",
        help: "kind of agent, and its name on the wire if that differs",
        complete: "kind",
        variadic: true,
      },
    ],
    flags: [
      {
        name: "listen",
        type: "string",
        value: "[HOST:]PORT",
        help: "address of this machine: of its loopback, unless there is a certificate",
        default: `127.0.0.1:${WEBLISK_PORT_DEFAULT}`,
      },
      {
        name: "tls-cert",
        type: "string",
        value: "FILE",
        help: "certificate and chain in PEM: serve HTTPS, with HTTP/2 too; a hub with TLS 1.3",
      },
      {
        name: "tls-key",
        type: "string",
        value: "FILE",
        help: "its private key in PEM, which nobody else can read",
      },
      {
        name: "url",
        type: "string",
        value: "URL",
        help: "its address as others know it",
        default: "the one at which it listens",
      },
      {
        name: "root",
        type: "string",
        value: "DIR",
        repeatable: true,
        help: "directory in which tasks may work; the first one is for tasks that name none",
        default: "the current directory",
      },
      {
        name: "capability",
        type: "string",
        value: "NS:ACTION",
        repeatable: true,
        help: "capability that a sender of tasks needs",
        default: AGENT_CAPABILITIES.join(", "),
      },
      {
        name: "max-concurrent",
        type: "int",
        value: "N",
        help: "tasks of one agent at a time",
        default: String(WEBLISK_CONCURRENT_DEFAULT),
        min: 1,
        max: WORKERS_LIVE_MAX,
      },
      {
        name: "signing",
        type: "string",
        value: "PROFILE",
        values: ACCEPTED_PROFILES,
        help: "text that senders of tasks sign: literal is the document's, jcs canonical JSON",
        default: "auto, each as it registered",
      },
      {
        name: "admin",
        type: "string",
        value: "[HOST:]PORT",
        help: "also serve /v1/admin there, on the loopback, for weblisk/admin.token",
      },
      {
        name: "federation",
        type: "string",
        value: "[HOST:]PORT",
        help: `also be a hub, whose gateway listens there; the usual port is ${FEDERATION_PORT_DEFAULT}`,
      },
      { name: "hub", type: "string", value: "NAME", help: "its name among hubs, as a host name" },
      {
        name: "federation-url",
        type: "string",
        value: "URL",
        help: "the gateway's address as other hubs know it",
        default: "the one at which it listens",
      },
      {
        name: "offer",
        type: "string",
        value: "NS:ACTION[=NAME]",
        repeatable: true,
        help: "capability for hubs with which it is shared, and the agent that has it",
      },
      ...TASK_FLAGS,
    ],
    examples: [
      "agent weblisk serve llm",
      "agent weblisk serve reviewer=llm --root ~/work/shop --permission deny",
      "agent weblisk serve --listen 9900 -- ./answer.sh",
      "agent weblisk serve reviewer=llm --federation 9801 --hub shop.example --offer legal:review",
    ],
  },
  {
    words: ["weblisk", "grant"],
    danger: "mutating",
    exits: [5, 7],
    summary: "Give capabilities to an agent that has registered, or show what it has",
    details:
      "They belong to the key with which it registered: compare that key with its owner's over another way. They are in its next token; it registers again to get one. Without a capability, nothing changes. Rights that are taken away are gone at once.",
    args: [
      { name: "NAME", help: "the name with which it registered", required: true },
      { name: "CAPABILITY", help: "all that it has from now on, as file:read", variadic: true },
    ],
    flags: [{ name: "none", type: "bool", help: "take all of them away" }],
    examples: ["agent weblisk grant ci", "agent weblisk grant ci file:read file:write llm:chat"],
  },
  {
    words: ["weblisk", "register"],
    danger: "mutating",
    exits: [6, 7, 8, 11],
    summary: "Register at an orchestrator elsewhere: its operator then gives rights to this key",
    details:
      "The key is that of agent identity show. The token and the keys that the orchestrator and its agents show first are kept; later they must have these keys. agent weblisk task and agent spawn weblisk register by themselves.",
    args: [orchestrator],
    flags: [
      as,
      {
        name: "capability",
        type: "string",
        value: "NS:ACTION",
        repeatable: true,
        help: "capability to ask for",
        default: `as before; else ${AGENT_CAPABILITIES.join(", ")}`,
      },
      { name: "url", type: "string", value: "URL", help: "its own address, for others there" },
      { name: "new-keys", type: "bool", help: "forget the keys that were seen first" },
    ],
    examples: [
      "agent weblisk register http://127.0.0.1:9800",
      "agent weblisk register https://shop.example --as reviewer --url https://me.example/agents/reviewer",
    ],
  },
  {
    words: ["weblisk", "task"],
    danger: "mutating",
    exits: [2, 6, 7, 8, 10, 11],
    summary: "Have an agent of an orchestrator elsewhere do a task, and print its signed answer",
    details:
      "Needs no daemon. A task that was cut off is asked for again with its --id: it is done once. agent spawn weblisk supervises such a task.",
    args: [
      orchestrator,
      { name: "AGENT", help: "the agent's name there", required: true },
      { name: "PROMPT", help: "the member prompt of its inputs" },
    ],
    flags: [
      as,
      { name: "inputs", type: "string", value: "JSON", help: "other members of the inputs, as an object" },
      {
        name: "workspace",
        type: "string",
        value: "DIR",
        help: "directory of the agent's machine to work in",
      },
      {
        name: "id",
        type: "string",
        value: "ID",
        help: "id of the task: 32 hexadecimal digits",
        default: "a new one",
      },
    ],
    examples: ["agent weblisk task http://127.0.0.1:9800 reviewer 'Which files have no tests?'"],
  },
]);
