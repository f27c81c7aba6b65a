/** A call of the runtime over the socket is stated in few places: its request, one line of a table of handlers, and an answer of its own where it has one. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { HANDLERS } from "../../src/daemon/handlers/index.ts";
import { Requests } from "../../src/protocol/requests.ts";
import { BUILTIN_COMMANDS } from "../../src/protocol/words.ts";

const root = join(import.meta.dirname, "../../src");
const files = ["protocol", "runtime", "daemon"].flatMap((room) =>
  (readdirSync(join(root, room), { recursive: true }) as string[])
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ name: join(room, name), text: readFileSync(join(root, room, name), "utf8") })),
);
const isTable = (name: string): boolean => name.startsWith("daemon/handlers/");

// Built-in skills are one list, BUILTIN_COMMANDS.
const single = Object.keys(Requests).filter(
  (name) => !(BUILTIN_COMMANDS as readonly string[]).includes(name),
);

it.each(single)("%s has a request and a handler, and is named in no other table", (name) => {
  const named = files
    .filter(({ text }) => new RegExp(`^ +"${name}": `, "m").test(text))
    .map((file) => file.name)
    .filter((file) => file !== "daemon/replies.ts");
  expect(named.filter((file) => !isTable(file))).toEqual([
    expect.stringMatching(/^protocol\/(?:[a-z]+-)?requests\.ts$/),
  ]);
  expect(named.filter(isTable)).toHaveLength(1);
});

it("each request has a handler, and each that takes an idempotency key has somebody who keeps it", () => {
  expect(Object.keys(HANDLERS).sort()).toEqual(Object.keys(Requests).sort());
  const withKey = Object.entries(Requests).filter(([, schema]) => "idempotency_key" in schema.shape);
  const handed = [
    ...["mailbox/send", "agent/spawn", "agent/resume", "agent/fork", "agent/send", "agent/ask"],
    ...["jobs/submit", "agent/spawn-many", "bb/post", "bb/claim", "bb/release"],
  ];
  expect(
    withKey
      .map(([name]) => name)
      .filter((name) => !HANDLERS[name as keyof typeof HANDLERS].isKeyed)
      .sort(),
  ).toEqual(handed.sort());
});
