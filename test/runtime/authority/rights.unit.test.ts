import { describe, expect, it } from "vitest";
import { EXTERNAL_SANDBOX } from "../../../src/protocol/extensions.ts";
import type { RestartPolicy, WorkerSpecInput } from "../../../src/protocol/worker.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import {
  isBounded,
  isReduced,
  type Party,
  rootsOf,
  widerRight,
} from "../../../src/runtime/authority/rights.ts";

const DEFAULTS: Readonly<Record<string, RestartPolicy>> = { command: "temporary", claude_code: "transient" };

const party = (given: Partial<WorkerSpecInput> & { readonly kind: string }): Party => {
  const default_restart = DEFAULTS[given.kind] ?? "transient";
  const spec = WorkerSpec.parse({ cwd: "/work", restart: default_restart, ...given });
  return { spec, default_restart, roots: rootsOf(spec) };
};
const claude = (given: Partial<WorkerSpecInput> = {}) => party({ kind: "claude_code", ...given });
const command = (given: Partial<WorkerSpecInput> = {}) => party({ kind: "command", argv: ["sh"], ...given });
const box = { writable: [] };
const SERVERS = { one: { command: "x" } };

describe("a child has no more than who asks for it", () => {
  it.each([
    ["an agent below a command, which nothing bounds", claude({ permission: "allow" }), command()],
    ["a command below a command", command(), command()],
    ["the same", claude(), claude()],
    ["a command below an agent that may do anything", command(), claude({ permission: "allow" })],
    ["a sandbox in the same", claude({ sandbox: box }), claude({ sandbox: box })],
    ["a sandbox with less network", claude({ sandbox: { net: "none" } }), claude({ sandbox: box })],
    [
      "a command, whose sandbox has no network by default",
      command({ sandbox: box, permission: "allow" }),
      claude({ sandbox: { net: "none" }, permission: "allow" }),
    ],
    ["a directory inside the parent's", claude({ sandbox: box, cwd: "/work/sub" }), claude({ sandbox: box })],
    ["each kind's own default restart", claude(), command()],
    [
      "a skill, whose words are the runtime's own",
      party({ kind: "skill", argv: ["fs/read", "sha256:0"], restart: "temporary" }),
      claude(),
    ],
    ["an MCP server of the parent's", claude({ mcp: SERVERS }), claude({ mcp: SERVERS })],
    [
      "an MCP server below an agent that may do anything",
      claude({ mcp: SERVERS }),
      claude({ permission: "allow" }),
    ],
    ["a restart that is rarer", claude({ restart: "temporary" }), claude()],
  ])("%s", (_, child, parent) => {
    expect(widerRight(child, parent)).toBeUndefined();
  });

  it.each([
    ["permission", claude({ permission: "allow" }), claude(), "--permission allow"],
    ["permission", command(), claude(), "a command, which no permission bounds"],
    ["permission", claude({ ext: { [EXTERNAL_SANDBOX]: true } }), claude(), "--permission allow"],
    [
      "arguments",
      claude({ argv: ["--dangerously-skip-permissions"] }),
      claude(),
      "extra arguments of its CLI",
    ],
    ["mcp", claude({ mcp: SERVERS }), claude(), "the MCP server one"],
    ["mcp", claude({ mcp: SERVERS }), claude({ mcp: { one: { command: "y" } } }), "the MCP server one"],
    ["sandbox", claude(), claude({ sandbox: box }), "no sandbox"],
    ["sandbox", command({ permission: "allow" }), command({ sandbox: box }), "no sandbox"],
    ["network", claude({ sandbox: box }), claude({ sandbox: { net: "none" } }), "--sandbox-net host"],
    [
      "network",
      claude({ sandbox: { net: "host" }, permission: "allow" }),
      command({ sandbox: box }),
      "--sandbox-net host",
    ],
    [
      "writable",
      claude({ sandbox: { writable: ["/home"] } }),
      claude({ sandbox: box }),
      "write access to /home",
    ],
    [
      "writable",
      claude({ sandbox: box, cwd: "/workshop" }),
      claude({ sandbox: box }),
      "write access to /workshop",
    ],
    [
      "worktree",
      claude({ sandbox: box, worktree: {} }),
      claude({ sandbox: box }),
      "a worktree, whose repository it writes to",
    ],
    ["restart", claude({ restart: "permanent" }), claude(), "--restart permanent"],
    ["restart", claude(), claude({ restart: "temporary" }), "--restart transient"],
    ["restart", command({ restart: "permanent" }), command(), "--restart permanent"],
  ])("not in %s", (what, child, parent, told) => {
    expect(widerRight(child, parent)).toMatchObject({ what, child: told });
  });
});

it("rights are reduced by a sandbox and by permissions; bounds are budgets and limits below it, too", () => {
  expect(isReduced(command().spec)).toBe(false);
  expect(isReduced(command({ sandbox: box }).spec)).toBe(true);
  expect(isReduced(claude().spec)).toBe(true);
  expect(isReduced(claude({ permission: "allow" }).spec)).toBe(false);
  expect(
    isReduced(claude({ permission: "allow", permission_rules: [{ tool: "Bash", action: "deny" }] }).spec),
  ).toBe(true);
  expect(isBounded(command().spec)).toBe(false);
  expect(isBounded(command({ budget: { wall_ms: 1 } }).spec)).toBe(true);
  expect(isBounded(command({ max_depth: 0 }).spec)).toBe(true);
  expect(isBounded(command({ max_concurrency: 2 }).spec)).toBe(true);
});
