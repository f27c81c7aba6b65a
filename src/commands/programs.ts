/** Commands that other programs and shells use. */
import type { FlagDef } from "../base/flag.ts";
import { inGroup } from "./command.ts";

const input: FlagDef = { name: "input", type: "string", value: "F", help: "", default: "-" };

export const PROGRAM_COMMANDS = inGroup("For programs", [
  {
    words: ["proto", "validate"],
    danger: "safe",
    summary: "Check a Protocol v1 envelope, or a stream of them",
    details:
      "Each finding names the broken rule, the place and the remedy. Without --stream, only the first JSON value of the input is checked, as the originals do. No daemon is needed.",
    flags: [
      { ...input, help: "file to check; - is stdin" },
      {
        name: "level",
        type: "enum",
        values: ["wire", "spec"],
        value: "LEVEL",
        help: "wire: what the originals accept; spec: every rule of the document",
        default: "spec",
      },
      { name: "strict", type: "bool", help: "refuse unknown members too, and anything after the envelope" },
      { name: "stream", type: "bool", help: "one envelope a line: progress, then exactly one ok or error" },
    ],
    examples: [
      "agent proto validate --input envelope.json",
      "agent list -o ndjson | agent proto validate --stream",
    ],
  },
  {
    words: ["event", "validate"],
    danger: "safe",
    summary: "Check AgentEvents, one JSON object a line",
    details: "Checks the six fields, the kinds and the bounds of agent-event.txt. No daemon is needed.",
    flags: [
      { ...input, help: "file to check; - is stdin" },
      {
        name: "strict",
        type: "bool",
        help: "also check that each kind of event has the members that belong to it",
      },
    ],
    examples: ["agent event validate --input events.ndjson"],
  },
  {
    words: ["completion"],
    danger: "safe",
    summary: "Print a completion script for your shell",
    details: "Prints text unless -o says otherwise, whatever HOLDFAST_OUTPUT says.",
    args: [
      {
        name: "SHELL",
        help: "bash, zsh or fish",
        required: true,
        values: ["bash", "zsh", "fish"],
      },
    ],
    examples: [
      'eval "$(agent completion bash)"',
      "agent completion fish -o text > ~/.config/fish/completions/agent.fish",
    ],
  },
  {
    words: ["relay"],
    danger: "mutating",
    summary: "Join stdin and stdout to this machine's daemon, for agent --host on another one",
    details:
      "`agent --host` runs it there (docs/how-to/other-hosts.md). The first line is the daemon's status; then the lines are those of its socket.",
    flags: [
      { name: "stdio", type: "bool", help: "join stdin and stdout; there is no other way" },
      { name: "start", type: "bool", help: "start the daemon if none runs" },
    ],
    examples: ["ssh -T build agent relay --stdio"],
  },
  {
    words: ["manifest"],
    danger: "safe",
    summary: "Print every command with its flags, exit codes and schemas, as JSON",
    details:
      "The output schema of `manifest` itself has the error codes of each exit code, as x-error-codes. `agent COMMAND --schema` lists those of one command.",
    flags: [
      {
        name: "etag",
        type: "string",
        value: "E",
        help: "etag of the manifest that you have; data is null if it has not changed",
      },
    ],
    examples: ["agent manifest -o json"],
  },
  {
    words: ["version"],
    danger: "safe",
    summary: "Print the version of this command",
    examples: ["agent version"],
  },
]);
