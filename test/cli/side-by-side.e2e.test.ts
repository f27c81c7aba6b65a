/** Workers that nothing orders are started side by side: all have begun before the first one is up. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeRepository, type TestRepository } from "../support/repository.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const WORKERS = 20;

let commands: Commands;
let repo: TestRepository;
beforeAll(() => {
  commands = makeCommands();
  repo = makeRepository({ "a.txt": "one\n" });
});
afterAll(async () => {
  await commands.close();
  rmSync(repo.root, { recursive: true, force: true });
});

/** A git that makes no worktree before the file `open` is there. */
const slowGit = (): { readonly path: string; open(): void } => {
  const dir = join(repo.root, "slow");
  const open = join(dir, "open");
  mkdirSync(dir);
  writeFileSync(
    join(dir, "git"),
    `#!/bin/sh
case " $* " in *" worktree add "*) until [ -e '${open}' ]; do sleep 0.05; done ;; esac
PATH='${process.env.PATH}' exec git "$@"
`,
  );
  chmodSync(join(dir, "git"), 0o755);
  return { path: `${dir}:${process.env.PATH}`, open: () => writeFileSync(open, "") };
};

it(`agent up begins ${WORKERS} workers of one_for_one before the first one is up, and down tells all before the first one has ended`, async () => {
  const names = Array.from({ length: WORKERS }, (_, n) => `w${n}`);
  const file = join(repo.root, "holdfast.yaml");
  const deaf = `[sh, -c, "trap '' TERM; while :; do sleep 1; done"]`;
  const child = (name: string) =>
    `    - { name: ${name}, argv: ${deaf}, shutdown: 2s, cwd: ${repo.path}, worktree: true }\n`;
  writeFileSync(file, `version: 1\nname: many\ntree:\n  children:\n${names.map(child).join("")}`);
  const git = slowGit();
  const up = commands.start(["up", "-f", file], { PATH: git.path });
  const starting = async () =>
    (((await commands.agent("list")).data as unknown as { state: string }[] | null) ?? []).filter(
      ({ state }) => state === "starting",
    ).length;
  await until(async () => (await starting()) === WORKERS);
  git.open();
  expect((await up.ended).exit).toBe(0);
  expect((await commands.agent("down", "many")).exit).toBe(0);

  const { stdout } = await commands.start(["db", "export"]).ended;
  const records = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; payload: { to?: string } });
  const places = (is: (record: (typeof records)[number]) => boolean) =>
    records.flatMap((record, at) => (is(record) ? [at] : []));
  const begun = places(({ type, payload }) => type === "worker_state_changed" && payload.to === "starting");
  const spawned = places(({ type }) => type === "worker_spawned");
  const told = places(({ type }) => type === "worker_cancel_requested");
  const ended = places(({ type }) => type === "worker_exited");
  for (const one of [begun, spawned, told, ended]) expect(one).toHaveLength(WORKERS);
  expect(Math.max(...begun)).toBeLessThan(Math.min(...spawned));
  expect(Math.max(...told)).toBeLessThan(Math.min(...ended));
});
