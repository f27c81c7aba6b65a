/** Commands of artifacts. */
import { type ArgDef, inGroup } from "./command.ts";

const digest: ArgDef = { name: "DIGEST", help: "sha256:… as `agent cas put` prints it", required: true };
/** The digest of "hello". */
const EXAMPLE_DIGEST = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

export const CAS_COMMANDS = inGroup("For programs", [
  {
    words: ["cas", "put"],
    danger: "mutating",
    exits: [7],
    summary: "Keep a file as an artifact, and print its digest",
    details:
      "The same content is kept once. An artifact that is not pinned and that no record names is removed 30 days after it was last put. A file that seems to contain a secret is refused.",
    args: [{ name: "FILE", help: "the file; - reads stdin", required: true }],
    flags: [{ name: "mask", type: "bool", help: "replace what looks like a secret with ***" }],
    examples: ["agent cas put report.json", "make 2>&1 | agent cas put - --mask"],
  },
  {
    words: ["cas", "get"],
    danger: "safe",
    exits: [5, 7],
    summary: "Print the bytes of an artifact, verified",
    details: "Prints text, even to a file or a pipe, unless -o or HOLDFAST_OUTPUT says otherwise.",
    args: [digest],
    flags: [{ name: "out", type: "string", value: "F", help: "write them to this file" }],
    examples: [`agent cas get ${EXAMPLE_DIGEST} --out report.json`],
  },
  {
    words: ["cas", "pin"],
    danger: "mutating",
    exits: [5, 7],
    summary: "Keep an artifact until it is unpinned",
    args: [digest],
    examples: [`agent cas pin ${EXAMPLE_DIGEST}`],
  },
  {
    words: ["cas", "unpin"],
    danger: "mutating",
    exits: [5, 7],
    summary: "Let an artifact be removed again",
    args: [digest],
    examples: [`agent cas unpin ${EXAMPLE_DIGEST}`],
  },
  {
    words: ["cas", "list"],
    danger: "safe",
    exits: [7],
    summary: "List the artifacts, the newest first",
    examples: ["agent cas list"],
  },
  {
    words: ["cas", "gc"],
    danger: "destructive",
    exits: [7],
    summary: "Remove old artifacts that are neither pinned nor named by a record",
    details:
      "Keeps artifacts that were put within the last hour. The daemon does the same by itself after 30 days.",
    flags: [
      {
        name: "older-than",
        type: "duration",
        value: "7d",
        help: "artifacts that were last put at least this long ago",
        default: "30d",
      },
      { name: "dry-run", type: "bool", help: "only print how much it would be" },
    ],
    examples: ["agent cas gc --dry-run", "agent cas gc --older-than 7d"],
  },
]);
