/** A process is taken for the pump of a run only if it is one, whatever a file says; in passing states it is looked at again. */
import { expect, it } from "vitest";
import { identityOf, readStat } from "../../../src/adapters/process/identity.ts";
import { isPumpOf } from "../../../src/adapters/process/vouching.ts";
import { WORDLESS_LOOKS_MAX } from "../../../src/base/limits.ts";

/** This test's process, and its parent, which vouches for it. */
const self = () => ({ named: identified(process.pid), launcher: identified(process.ppid) });
const identified = (pid: number) => {
  const { start_time } = readStat(pid)!;
  return identityOf(pid, start_time);
};

const DIR = "/state/runs/w1/1";

/** This test's process, which its parent vouches for; its words are those of each look, and then the last ones. */
const looked = async (...looks: readonly (readonly string[])[]) => {
  let look = 0;
  const { named, launcher } = self();
  const isPump = await isPumpOf(
    named,
    launcher,
    "no marker",
    DIR,
    () => looks[Math.min(look++, looks.length - 1)]!,
  );
  return { isPump, looks: look };
};

it("reads the stdin of the run", async () => {
  expect(await looked(["tail", "-f", `${DIR}/stdin`, ""])).toEqual({ isPump: true, looks: 1 });
});

it("is looked at again while it shows no words: between SIGKILL and its end, and while it begins a program", async () => {
  expect(await looked([""], [""], ["tail", "-f", `${DIR}/stdin`, ""])).toEqual({ isPump: true, looks: 3 });
});

it("is none with the words of another program, or with none for too long", async () => {
  expect(await looked(["sleep", "600", ""])).toEqual({ isPump: false, looks: 1 });
  expect(await looked([""])).toEqual({ isPump: false, looks: WORDLESS_LOOKS_MAX });
});

it("needs no proof once it is gone: nobody signals it", async () => {
  const { named, launcher } = self();
  expect(await isPumpOf({ ...named, start_time: "1" }, launcher, "m", DIR, () => ["sleep"])).toBe(true);
});
