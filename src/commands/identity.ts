/** Commands about Weblisk identities. */
import { SIGNING_ALGORITHMS } from "../protocol/words.ts";
import { type ArgDef, inGroup } from "./command.ts";

const identityName: ArgDef = {
  name: "NAME",
  help: "the identity of an agent; without it that of this state directory",
};

const algorithm = {
  name: "algorithm",
  type: "enum",
  value: SIGNING_ALGORITHMS.join("|"),
  values: SIGNING_ALGORITHMS,
} as const;

export const IDENTITY_COMMANDS = inGroup("This machine", [
  {
    words: ["identity", "show"],
    danger: "mutating",
    exits: [7],
    summary: "Show a Weblisk identity: its public key, and where its files are",
    details:
      "An identity is an Ed25519 key pair below .weblisk/keys of the state directory; it is made at its first use. private.key never leaves that folder and never reaches an agent. Compare the public key over another way than the one that sent it.",
    args: [identityName],
    examples: ["agent identity show", "agent identity show reviewer"],
  },
  {
    words: ["identity", "rotate"],
    danger: "destructive",
    exits: [6, 7],
    summary: "Give a Weblisk identity another key, signed by the old one and the new one",
    details:
      "The statement with both signatures stays in rotation.json: a peer that knows the old key accepts the new one by it. The old private key is gone. An orchestrator at which it is registered (agent weblisk register) is told at once, and its name and rights there stay. A kill in the middle leaves the old key or the new one, whole.",
    args: [identityName],
    flags: [{ ...algorithm, help: "the algorithm of the new key", default: "that of the old one" }],
    examples: ["agent identity rotate", "agent identity rotate reviewer --algorithm ML-DSA-65"],
  },
  {
    words: ["identity", "export"],
    danger: "safe",
    exits: [5, 7],
    summary: "Print the public part of a Weblisk identity, for a peer; or copy its private key to a file",
    details: "Prints no private key. With --private it is copied to a new file that only you may read.",
    args: [identityName],
    flags: [{ name: "private", type: "string", value: "FILE", help: "new file for the private key" }],
    examples: ["agent identity export", "agent identity export --private backup.key"],
  },
]);
