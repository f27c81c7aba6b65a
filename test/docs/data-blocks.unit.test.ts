/** The YAML and JSON of the pages are what they are shown as: trees, configurations, lists of prices. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { parse as parseCall } from "../../src/cli/parse.ts";
import { parseConfiguration } from "../../src/daemon/configuration.ts";
import { ModelScript } from "../../src/engine/script.ts";
import { CardInput } from "../../src/protocol/board-requests.ts";
import { WorkerMcp } from "../../src/protocol/spawn-mcp.ts";
import { openPrices } from "../../src/runtime/prices/lists.ts";
import { answerOf } from "../../src/skills/answer.ts";
import { readManifest } from "../../src/skills/manifest.ts";
import { read } from "../tree-file/support.ts";
import { type Block, blocksOf } from "./blocks.ts";
import { pages, root } from "./pages.ts";

/** Files that trees of the pages name. */
const files = {
  "fix.md": "Fix it.",
  "worker.yaml": '{ name: worker, argv: [echo, "${JOB}"] }',
};
/** Parts of a tree file, by their first key, with the rest of the file around them. */
const AROUND: Readonly<Record<string, (part: string) => string>> = {
  "- {": (part) => `version: 1\ntree:\n  children:\n${part}`,
  'hosts:\n  "': (part) =>
    `version: 1\nvariables: { REGION: us }\ntree: { children: [{ name: crew, children: [{ name: fixer, kind: claude, prompt: Fix it. }] }] }\n${part}`,
};

const checks: readonly (readonly [sort: string, fits: RegExp, check: (text: string) => void])[] = [
  ["a tree", /^version: 1$/m, (text) => expect(read(text, { files })).toBeDefined()],
  [
    "a configuration",
    /^(adapters|binaries|defaults|federation|hosts|http|kinds|mcp|notifications|providers|runtimes|skills|telemetry):/,
    (text) => expect(parseConfiguration(text).problems).toEqual([]),
  ],
  [
    "a workflow",
    /^on:/,
    (text) => {
      const { steps } = parse(text).jobs.review;
      const given = Object.keys(steps.find(({ uses = "" }) => uses.includes("holdfast")).with);
      expect(Object.keys(parse(readFileSync(join(root, "action.yml"), "utf8")).inputs)).toEqual(
        expect.arrayContaining(given),
      );
    },
  ],
  ["a skill", /^name: \w+\/\w+/, (text) => expect(readManifest(text)).toHaveProperty("manifest")],
  [
    "an envelope",
    /^\{"version":1,/,
    (text) => expect(answerOf(JSON.parse(text).command, Buffer.from(text)).ok).toBe(true),
  ],
  [
    "the servers of a worker",
    /^\{\s*"mcpServers"/,
    (text) => expect(WorkerMcp.safeParse(JSON.parse(text).mcpServers).error).toBeUndefined(),
  ],
  [
    "a script of a model",
    /^\{\s*"answers"/,
    (text) => expect(ModelScript.safeParse(JSON.parse(text)).error).toBeUndefined(),
  ],
  [
    "a scrape of Prometheus",
    /^scrape_configs:/,
    (text) => expect(parse(text)).toHaveProperty("scrape_configs"),
  ],
  [
    "a configuration of MCP servers",
    /^\{\s*"mcpServers"/,
    (text) => {
      const [server] = Object.values(JSON.parse(text).mcpServers) as { command: string; args: string[] }[];
      expect(server?.command).toBe("agent");
      expect(parseCall(server!.args)).toMatchObject({ kind: "call", call: { problems: [] } });
    },
  ],
  [
    "a setting of an editor",
    /^\{\s*"agent_servers"/,
    (text) => {
      const [server] = Object.values(JSON.parse(text).agent_servers) as { command: string; args: string[] }[];
      expect(server?.command).toBe("agent");
      expect(parseCall(server!.args)).toMatchObject({ kind: "call", call: { problems: [] } });
    },
  ],
  ["a card", /^\{"id":/, (text) => expect(CardInput.safeParse(JSON.parse(text)).error).toBeUndefined()],
  [
    "a list of prices",
    /^\{\s*"as_of"/,
    (text) => {
      const dir = mkdtempSync(join(tmpdir(), "holdfast-docs-"));
      onTestFinished(() => rmSync(dir, { recursive: true }));
      writeFileSync(join(dir, "prices.json"), text);
      expect(openPrices(join(dir, "prices.json"))).not.toEqual([]);
    },
  ],
];

const whole = ({ text }: Block): string => {
  const [, around] = Object.entries(AROUND).find(([first]) => text.trimStart().startsWith(first)) ?? [];
  return around?.(text) ?? text;
};

const blocks = pages.flatMap(blocksOf).filter(({ language }) => ["yaml", "json"].includes(language));

it.each(blocks.map((block) => [`${block.page}:${block.line}`, block] as const))(
  "%s can be read",
  (_place, block) => {
    const text = whole(block);
    const [, , check] = checks.find(([, fits]) => fits.test(text)) ?? [];
    expect(check, "no test knows what this is").toBeDefined();
    check?.(text);
  },
);

it("no page has code of a language that no test looks at", () => {
  const languages = new Set(pages.flatMap(blocksOf).map(({ language }) => language));
  expect([...languages].toSorted()).toEqual(["console", "json", "mermaid", "text", "ts", "yaml"]);
});
