/**
 * The GitHub Action at the top of the repository: its definition has the form that GitHub documents for composite actions, and
 * its steps run as a runner would run them, with an agent that does its work.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { AGENT, assertBuilt, CACHE } from "../support/built.ts";
import { root } from "./pages.ts";

const text = z.string().min(1);
/** https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax, for composite actions with steps of shells. */
const Action = z.strictObject({
  name: text,
  description: text,
  branding: z.strictObject({
    icon: text,
    color: z.enum(["white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"]),
  }),
  inputs: z.record(
    z.string().regex(/^[A-Za-z_][\w-]*$/),
    z.strictObject({ description: text, required: z.boolean(), default: z.string().optional() }),
  ),
  outputs: z.record(text, z.strictObject({ description: text, value: text })),
  runs: z.strictObject({
    using: z.literal("composite"),
    steps: z.array(
      z.strictObject({
        name: text,
        id: text.optional(),
        if: text.optional(),
        shell: z.literal("bash"),
        env: z.record(z.string().regex(/^[A-Z_]+$/), z.string()),
        run: text,
      }),
    ),
  }),
});
const action = Action.parse(parse(readFileSync(join(root, "action.yml"), "utf8")));
const EXPRESSION = /\$\{\{\s*([\w.-]+)\s*\}\}/g;

let temp: string;
beforeEach(() => {
  assertBuilt();
  temp = mkdtempSync(join(tmpdir(), "holdfast-action-"));
  mkdirSync(join(temp, "bin"));
  mkdirSync(join(temp, "work"));
  symlinkSync(AGENT, join(temp, "bin/holdfast"));
  symlinkSync(join(root, "test/fixtures/agents/works.mjs"), join(temp, "bin/claude"));
});
afterEach(() => rmSync(temp, { recursive: true, force: true }));

/** As the runner does it: expressions in `env` are replaced, and a failed step skips those without `if: always()`. */
const run = (inputs: Readonly<Record<string, string>>) => {
  const given = {
    ...Object.fromEntries(
      Object.entries(action.inputs).map(([name, { default: value = "" }]) => [name, value]),
    ),
    ...inputs,
  };
  const filledIn = (expression: string): string => {
    if (expression === "runner.temp") return temp;
    const value = given[/^inputs\.(.+)$/.exec(expression)?.[1] ?? ""];
    if (value === undefined) throw new Error(`nothing gives ${expression}`);
    return value;
  };
  const told = join(temp, "told");
  let failed: number | undefined;
  for (const step of action.runs.steps) {
    if (failed !== undefined && step.if !== "always()") continue;
    const env = Object.fromEntries(
      Object.entries(step.env).map(([name, value]) => [
        name,
        value.replace(EXPRESSION, (_, expression: string) => filledIn(expression)),
      ]),
    );
    const path = `${join(temp, "bin")}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
    const ran = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
      cwd: join(temp, "work"),
      encoding: "utf8",
      env: { ...CACHE, PATH: path, HOME: temp, RUNNER_TEMP: temp, GITHUB_OUTPUT: told, ...env },
    });
    if (ran.status !== 0 && failed === undefined) failed = ran.status ?? -1;
  }
  return { failed, answer: /^answer=(.*)$/m.exec(readFileSync(told, "utf8"))?.[1] ?? "" };
};
/** The words of each process, by itself: all of them are too long where thousands run. */
const wordsOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    // It has ended meanwhile.
    return "";
  }
};
const left = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(wordsOf)
    .filter((words) => words.includes(temp));

it("runs the agent within its limits, and gives the file of its answer", () => {
  const prompt = '-- Is "$(touch pwned)" `it` so?';
  const { failed, answer } = run({ kind: "claude", prompt, flags: "--label\njob=a b\n" });
  expect(failed).toBeUndefined();
  expect(readFileSync(answer, "utf8").trim()).not.toBe("");
  expect(spawnSync("ls", { cwd: join(temp, "work"), encoding: "utf8" }).stdout).toBe("");
  expect(left()).toEqual([]);
});

it("fails as the agent does, and leaves no process", () => {
  expect(run({ kind: "claude", prompt: "Work for ever.", timeout: "1s" }).failed).toBe(10);
  expect(left()).toEqual([]);
});

it("puts no input into the text of a script, and uses each of them", () => {
  for (const { run: script } of action.runs.steps) expect(script).not.toContain("${{");
  const used = action.runs.steps
    .flatMap(({ env }) => Object.values(env))
    .flatMap((value) => [...value.matchAll(EXPRESSION)].map(([, name]) => name));
  expect(new Set(used)).toEqual(
    new Set([...Object.keys(action.inputs).map((name) => `inputs.${name}`), "runner.temp"]),
  );
});
