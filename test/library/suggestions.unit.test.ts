/** The next step of an error, for a program and for the command line. */
import { expect, it, test } from "vitest";
import { inProgram, suggestionInProgram } from "../../src/library/suggestions.ts";
import { ERROR_CATALOGUE, HoldfastError } from "../../src/protocol/errors.ts";

test.each([
  ["Give more time with --timeout, or smaller work.", "Give more time with `timeout_ms`, or smaller work."],
  ["Look at its records with `agent logs`.", "Look at its records with `runtime.watch`."],
  ["Read it: `agent logs 01AB --raw`.", 'Read it: `runtime.raw("01AB")`.'],
  ["Start it from outside its run: agent restart ID", "Start it from outside its run: `runtime.restart(id)`"],
  ["See all: agent approvals --all", "See all: `runtime.approvals({ all: true })`"],
  ["Then run `agent kill --all` again.", "Then run `runtime.killAll()` again."],
  [
    "Wait for one with: agent bb watch --ns a/b",
    'Wait for one with: `runtime.blackboard.watch({ ns: "a/b" })`',
  ],
  [
    "Talk to it with `agent send w1`, or branch its session: agent fork w1",
    'Talk to it with `runtime.send("w1")`, or branch its session: `runtime.resume("w1", { fork: true })`',
  ],
  ["Answer it with: agent answer x allow|deny", 'Answer it with: `runtime.answer("x", "allow" | "deny")`'],
  [
    "See the decisions in order with: agent why ID   Mend the cause, then: agent up",
    "See the decisions in order with: `runtime.why(id)`   Mend the cause, then: `runtime.applyTree`",
  ],
  [
    "See its state: agent why pool; or name one of its workers: agent tree",
    'See its state: `runtime.why("pool")`; or name one of its workers: `runtime.tree`',
  ],
  ["Kill it: agent kill ID. Then start it again.", "Kill it: `runtime.kill(id)`. Then start it again."],
  ["Read from its beginning with `--from 0`.", "Read from its beginning with `from: 0`."],
  // Only the command line has it.
  ["Run `agent doctor`, then: agent daemon start", "Run `agent doctor`, then: agent daemon start"],
  // No command.
  ["Do the work in the agent that asks.", "Do the work in the agent that asks."],
])("%s", (cli, program) => expect(suggestionInProgram(cli)).toBe(program));

/** Commands that no call of the library replaces. */
const CLI_ONLY = /agent (?:<command>|(?:--help|doctor|daemon|cas|db rebuild|run|peer|audit)\b)/;

test.each(Object.entries(ERROR_CATALOGUE))("%s names calls and options", (_code, { next }) => {
  const told = suggestionInProgram(next);
  for (const [, quoted] of told.matchAll(/`(agent [^`]+)`/g)) expect(quoted).toMatch(CLI_ONLY);
  expect(told.replace(/`agent [^`]+`/g, "")).not.toMatch(/--[a-z]/);
});

it("is beside that of the command line, also as JSON, and only where they differ", () => {
  const error = inProgram(new HoldfastError("TIMEOUT", "It took too long."));
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error.suggestion).toBe("Give more time with `timeout_ms`, or smaller work.");
  expect(error.suggestion_cli).toBe("Give more time with --timeout, or smaller work.");
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ suggestion_cli: error.suggestion_cli });
  expect(inProgram(error)).toBe(error);
  const same = new HoldfastError("UNAVAILABLE", "It is closed.");
  expect(inProgram(same)).toBe(same);
  expect(same.suggestion_cli).toBe("Try again later.");
  expect(same.toJSON()).not.toHaveProperty("suggestion_cli");
});
