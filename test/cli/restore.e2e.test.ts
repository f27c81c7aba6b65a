/** A backup of the database that is put back by hand, as people do it: who watched is told, and is not shown other records. */
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeCommands, until } from "./support/commands.ts";

it("a watch and a cursor of what is gone are refused with the way on, and check and doctor say what happened", async () => {
  const commands = makeCommands();
  onTestFinished(commands.close);
  const { agent, home, start } = commands;
  const file = join(home, "holdfast.db");
  await agent("spawn", "--watch", "--name", "early", "--", "echo", "early");
  await agent("daemon", "stop");
  await until(() => !existsSync(`${file}-wal`));
  copyFileSync(file, join(home, "backup.db"));

  await agent("daemon", "start");
  const watching = start(["watch", "--all", "--from", "0", "-o", "json"]);
  await agent("spawn", "--watch", "--name", "late", "--", "echo", "late");
  const old = (await agent("watch", "late", "--from", "0")).data.cursor as string;
  await until(() => watching.out().includes('"late\\n"'));
  await agent("daemon", "stop");
  await until(() => !existsSync(`${file}-wal`));
  rmSync(file);
  copyFileSync(join(home, "backup.db"), file);

  const note = /An older copy of the event log was put back: \d+ records after \d+, at least, are gone\./;
  expect((await agent("db", "check")).data).toMatchObject({
    ok: true,
    notes: [expect.stringMatching(/The next daemon begins a new epoch\./)],
  });
  await agent("daemon", "start");
  // It waited for this daemon, and goes on in no other history.
  const { exit, stdout, stderr } = await watching.ended;
  expect(exit).toBe(3);
  expect(stderr).toContain("The next daemon answers.");
  expect(JSON.parse(stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({
    error: { code: "CURSOR_UNKNOWN", message: expect.stringMatching(note) },
  });

  // The new history grows past the old cursor: a seq alone would show other records from here on.
  await agent("spawn", "--watch", "--name", "new", "--", "seq", "30");
  const refused = await agent("watch", "new", "--from", old);
  expect(refused).toMatchObject({ exit: 3, error: { message: expect.stringMatching(note) } });
  const wayOn = /--from (\w+:\d+)/.exec(refused.error!.suggestion!)![1]!;
  const { exit: now, stdout: shown } = await agent("watch", "new", "--from", wayOn);
  expect(now).toBe(0);
  expect(shown).toContain('"30\\n"');

  expect((await agent("db", "check")).data).toMatchObject({ ok: true, notes: [expect.stringMatching(note)] });
  expect(JSON.stringify(await agent("doctor"))).toMatch(note);
  expect((await agent("watch", "--all", "--from", "1000000")).exit).toBe(3);
});
