/**
 * Every command that reads, over two hosts at once, in a story that both of them have lived: its rows are those of each host, and each
 * row has its host.
 */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { COMMANDS } from "../../src/commands/commands.ts";
import { READ_THERE, RUN_THERE } from "../../src/commands/hosts.ts";
import { plainAnswer } from "../daemon/cluster/support/contract.ts";
import { AGENT } from "../support/built.ts";
import { type Answer, type Commands, makeCommands } from "./support/commands.ts";
import { CALLS, type Data, makeStoryFiles, type StoryCall, wordsOf } from "./support/story.ts";

const HOSTS = ["local", "build"] as const;
/** Reads that are not asked here, and why. */
const NOT_HERE: Readonly<Record<string, string>> = {
  "agent/top": "needs a terminal (top/*.e2e.test.ts)",
  "jobs/tail": "is for one host: its steps have no host",
  "bb/watch": "is for one host: its items have no host",
  "board/watch": "is for one host: its cards have no host",
  "schedule/next": "asks no daemon",
  "mcp/list": "reads the file of a directory, as config/list does, and the story has none",
  "mcp/get": "reads the file of a directory, as config/get does, and the story has none",
};
/** Their words have an id that only one of the two hosts knows. */
const BY_ID = /^(mailbox\/show|jobs\/(info|wait|result)|agent\/(wait|output))$/;
/** A command that runs on a machine as a whole reads several ones only if its answer is one of JSON. */
const isOverHosts = (command: string): boolean => !RUN_THERE.has(command) || READ_THERE.has(command);
const isRead = (command: string): boolean =>
  isOverHosts(command) && COMMANDS.find((each) => each.command === command)?.danger === "safe";
const isAsked = ([command]: StoryCall): boolean =>
  isRead(command) && !(command in NOT_HERE) && !BY_ID.test(command);

let here: Commands;
let build: Commands;
const works = new Map<Commands, string>();

beforeAll(() => {
  [here, build] = [makeCommands(), makeCommands()];
  for (const each of [here, build]) works.set(each, makeStoryFiles(each.home));
  mkdirSync(join(build.home, "bin"));
  symlinkSync(AGENT, join(build.home, "bin/agent"));
});
afterAll(async () => {
  for (const each of [here, build]) await each?.close();
  for (const work of works.values()) rmSync(work, { recursive: true, force: true });
});

const plain = (answer: Answer) =>
  plainAnswer(
    answer,
    [here, build].flatMap((each) => [[each.home, "HOME"] as const, [works.get(each)!, "WORK"] as const]),
  );

const argOf = (command: string) => COMMANDS.find((each) => each.command === command)?.args[0];
const namesWorkers = (command: string): boolean =>
  ["worker", "living"].includes(argOf(command)?.complete ?? "");
/** One worker has one host, and the answer is that of this host. */
const isOfBuildAlone = (command: string): boolean =>
  namesWorkers(command) && argOf(command)?.variadic !== true;

/** A worker, and the mailbox of the user. */
const isRef = (word: string): boolean => word === "tom" || word === "user";

/** The same words for several hosts: a worker has its host before its name. */
const overBoth = (command: string, words: readonly string[]): readonly string[] => {
  if (!namesWorkers(command)) return words;
  const hosts = isOfBuildAlone(command) ? ["build"] : HOSTS;
  return words.flatMap((word) => (isRef(word) ? hosts.map((host) => `${host}/${word}`) : [word]));
};

interface Read {
  readonly words: readonly string[];
  readonly command: string;
  readonly both: Answer;
  readonly each: readonly Answer[];
}

it("every read is asked over several hosts, or not for a reason", () => {
  const reads = COMMANDS.filter(({ command }) => isRead(command));
  const asked = CALLS.filter(isAsked).map(([command]) => command);
  const byId = reads.filter(({ command }) => BY_ID.test(command)).map(({ command }) => command);
  expect(new Set([...asked, ...byId, ...Object.keys(NOT_HERE)])).toEqual(
    new Set(reads.map(({ command }) => command)),
  );
});

it("every read of several hosts has the rows of each, and each row its host", async () => {
  const address = `exec:env HOLDFAST_HOME=${build.home} PATH=${join(build.home, "bin")}:${process.env.PATH}`;
  const file = join(here.home, "config.yaml");
  writeFileSync(
    file,
    JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), hosts: { build: address } }),
  );
  const newest = [new Map<string, Data>(), new Map<string, Data>()] as const;
  const reads: Read[] = [];
  for (const call of CALLS.slice(0, -1)) {
    const each = await Promise.all(
      [here, build].map(async (host, at) => {
        const work = works.get(host)!;
        const words = wordsOf(call, { told: (command) => newest[at]!.get(command) ?? {}, work });
        const answer = await host.agent(...words);
        newest[at]!.set(call[0], answer.data);
        return { words, answer };
      }),
    );
    if (!isAsked(call)) continue;
    const words = overBoth(call[0], each[0]!.words);
    const both = await here.agent("--host", HOSTS.join(), ...words);
    reads.push({ command: call[0], words, both, each: each.map(({ answer }) => answer) });
  }
  for (const { command, words, both, each } of reads) {
    expect([command, both.exit, both.error]).toEqual([command, each[0]!.exit, null]);
    const [, ofBuild] = each;
    if (words.some((word) => word.startsWith("build/")) && isOfBuildAlone(command)) {
      expect([command, plain(both).data]).toEqual([command, plain(ofBuild!).data]);
      continue;
    }
    const rows = each.flatMap((answer, at) =>
      ([plain(answer).data].flat() as object[]).map((row) => ({ host: HOSTS[at], ...row })),
    );
    expect([command, plain(both).data]).toEqual([command, rows]);
  }
});
