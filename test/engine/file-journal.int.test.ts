/** Journals in files: a torn tail, a damaged file, a branch. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileJournals } from "../../src/engine/journals.ts";

const make = async () => {
  const directory = join(mkdtempSync(join(tmpdir(), "holdfast-journal-")), "sessions");
  const journals = fileJournals(directory);
  const journal = await journals.open({});
  await journal.append({ type: "given", message_id: "m1", worker_id: "w1", text: "Tell — it." });
  await journal.append({ type: "ended", error: null });
  await journal.append({ type: "given", message_id: "m2", worker_id: "w1", text: "More." });
  await journal.close();
  const [name = ""] = readdirSync(directory);
  return { journals, directory, file: join(directory, name), session: name.replace(".jsonl", "") };
};

it("has what was appended, and goes on behind a line that a crash tore off", async () => {
  const { journals, file, session } = await make();
  const whole = readFileSync(file, "utf8");
  appendFileSync(file, '{"type":"asking');
  const again = await journals.open({ session });
  expect(again.entries.map(({ type }) => type)).toEqual(["opened", "given", "ended", "given"]);
  await again.append({ type: "asking" });
  await again.close();
  expect(readFileSync(file, "utf8")).toBe(`${whole}{"type":"asking"}\n`);
});

it("branches at the end of the last whole turn, and leaves the session as it is", async () => {
  const { journals, file, session } = await make();
  const before = readFileSync(file, "utf8");
  const branch = await journals.open({ session, fork: true });
  await branch.close();
  expect(branch.entries.map(({ type }) => type)).toEqual(["opened", "given", "ended"]);
  expect(branch.entries[0]).toMatchObject({ forked_from: session });
  expect(readFileSync(file, "utf8")).toBe(before);
});

it.each(["nowhere", "../escape", ".hidden"])("has no session %s", async (session) => {
  const { journals } = await make();
  await expect(journals.open({ session })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});

it("does not go on with a damaged file", async () => {
  const { journals, file, session } = await make();
  writeFileSync(file, 'not json\n{"type":"asking"}\n');
  await expect(journals.open({ session })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
});
