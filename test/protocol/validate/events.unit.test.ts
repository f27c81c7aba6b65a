/** The advice of `agent event validate` fits what is wrong. */
import { expect, it } from "vitest";
import { makeEventValidator } from "../../../src/protocol/validate/events.ts";

const remedies = (...lines: readonly (string | undefined)[]): string[] => {
  const validator = makeEventValidator({});
  for (const line of lines) validator.line(line === undefined ? undefined : Buffer.from(line));
  return validator.end().list.map(({ remedy }) => remedy);
};
const event = (member: string): string => `{"agent_kind":"codex","kind":"Status",${member}}`;

it.each([
  ['"text":null', "Write text as text, or leave it out."],
  ['"channel":null', "Write channel as text, or leave it out."],
  ['"message":7', "Write message as text, or leave it out."],
  [`"text":"${"t".repeat(65_537)}"`, "Split the text over several TextOutput events, in order."],
  [`"channel":"${"c".repeat(129)}"`, "Leave the channel out: it is not cut."],
  [
    '"data":{"duration_ms":1e400}',
    "Write a number that a double holds; a larger one only as text, where text may stand.",
  ],
])("fits the case, number %#", (member, remedy) => {
  expect(remedies(event(member))).toEqual([remedy]);
});

it("of a line speaks of events, and of no flag of another command", () => {
  const told = [...remedies(`${event('"text":"t"')} x`, "", undefined), ...remedies()];
  expect(told).toEqual([
    "Send one event a line, and nothing after it.",
    "Send an event; leave no line empty.",
    expect.stringMatching(/smaller event/),
    "Send an event; leave no line empty.",
  ]);
});
