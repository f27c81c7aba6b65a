/** Commands about the agents and programs of this machine. */
import type { FlagDef } from "../base/flag.ts";
import { MCP_SERVED_WAIT_MAX_MS, MCP_SERVED_WAIT_MS, MCP_TIMEOUT_DEFAULT_MS } from "../base/limits.ts";
import { seconds } from "../protocol/spec-fields.ts";
import { type ArgDef, inGroup } from "./command.ts";
import { spawnFlagsBut } from "./spawn-flags.ts";

const MCP_DETAILS =
  "Runs the kind's own CLI and reports its exit code and at most 64 KB of each output stream. The command succeeds if the CLI ran to its end, whatever its exit code. No daemon is needed.";
const mcpKind: ArgDef = { name: "KIND", help: "kind of agent", required: true, complete: "kind" };
const mcpName: ArgDef = { name: "NAME", help: "name of the server", required: true };
const mcpFlags: readonly FlagDef[] = [
  {
    name: "cwd",
    short: "C",
    type: "string",
    value: "DIR",
    help: "directory in which the CLI runs",
    default: "here",
  },
  {
    name: "env",
    short: "e",
    type: "pair",
    value: "K=V",
    repeatable: true,
    help: "variable of the CLI; V may be @env:NAME or @file:PATH",
  },
  {
    name: "timeout",
    type: "duration",
    value: "60s",
    help: "how long it may take; 0 fails at once",
    default: seconds(MCP_TIMEOUT_DEFAULT_MS),
  },
];

/** A session is a conversation, and goes on in the background. */
const ACP_FLAGS = spawnFlagsBut(
  "interactive",
  "name",
  "prompt-file",
  "dry-run",
  "watch",
  "wait",
  "detach",
  "verbose",
  "idempotency-key",
);

export const MACHINE_COMMANDS = inGroup("This machine", [
  {
    words: ["capabilities"],
    request: "agent/capabilities",
    danger: "safe",
    summary: "Show what each kind of agent can do here",
    args: [{ name: "KIND", help: "only this kind", complete: "kind" }],
    examples: ["agent capabilities claude"],
  },
  {
    words: ["mcp", "list"],
    danger: "safe",
    exits: [7, 10],
    summary: "List the MCP servers of an agent's own CLI",
    details: MCP_DETAILS,
    args: [mcpKind],
    flags: mcpFlags,
    examples: ["agent mcp list codex"],
  },
  {
    words: ["mcp", "get"],
    danger: "safe",
    exits: [7, 10],
    summary: "Show one MCP server of an agent's own CLI",
    details: MCP_DETAILS,
    args: [mcpKind, mcpName],
    flags: mcpFlags,
    examples: ["agent mcp get codex docs"],
  },
  {
    words: ["mcp", "add"],
    danger: "mutating",
    exits: [7, 10],
    argv: true,
    summary: "Add an MCP server to an agent's own CLI",
    details: `The server is a command after --, or an address with --url. ${MCP_DETAILS} Needs allow_mcp_write for the kind in config.yaml (docs/reference/daemon.md).`,
    args: [mcpKind, mcpName],
    flags: [
      ...mcpFlags,
      { name: "url", type: "string", value: "URL", help: "address of a server over HTTP" },
      {
        name: "bearer-env-var",
        type: "string",
        value: "NAME",
        help: "variable from which the CLI reads the token for --url, if it supports that",
      },
      {
        name: "server-env",
        type: "pair",
        value: "K=V",
        repeatable: true,
        help: "variable for the server's command; the CLI stores it",
      },
    ],
    examples: [
      "agent mcp add codex docs -- docs-server --stdio",
      "agent mcp add claude docs --url https://docs.example/mcp",
    ],
  },
  {
    words: ["mcp", "remove"],
    danger: "mutating",
    exits: [7, 10],
    summary: "Remove an MCP server from an agent's own CLI",
    details: `${MCP_DETAILS} Needs allow_mcp_write for the kind in config.yaml (docs/reference/daemon.md).`,
    args: [mcpKind, mcpName],
    flags: mcpFlags,
    examples: ["agent mcp remove codex docs"],
  },
  {
    words: ["mcp", "serve"],
    danger: "mutating",
    summary: "Serve the workers of this daemon to an agent, as an MCP server over stdin and stdout",
    details:
      "An agent's CLI starts it (docs/how-to/agents-that-run-agents.md). Its tools start, wait for, stop and read workers. Inside a run it knows that run's worker and everything below it, and nothing else. A call starts the daemon if none runs.",
    flags: [
      {
        name: "wait-max",
        type: "duration",
        value: "45s",
        help: "a call that waits answers pending after this",
        default: seconds(MCP_SERVED_WAIT_MS),
        min: 1_000,
        max: MCP_SERVED_WAIT_MAX_MS,
      },
    ],
    examples: ["agent mcp serve"],
  },
  {
    words: ["acp"],
    danger: "mutating",
    exits: [5, 6, 7],
    argv: true,
    summary: "Be an agent for an editor, by the Agent Client Protocol over stdin and stdout",
    details:
      "An editor starts it (docs/how-to/editors.md). Each session is a worker of the kind, started with these flags, whose agent asks the editor before it acts; with the ID of a worker, the session is that worker. The editor's connection outlasts the agent and the daemon, and the workers outlast the editor.",
    args: [{ name: "KIND|ID", help: "kind of agent for new sessions, or a worker", complete: "kind" }],
    flags: ACP_FLAGS,
    examples: ["agent acp claude", "agent acp acp:gemini --model gemini-2.5-pro", "agent acp fixer"],
  },
  {
    words: ["doctor"],
    danger: "safe",
    summary: "Check this machine for missing parts, and show how to fix them",
    examples: ["agent doctor"],
  },
]);
