/** agent init: writes a holdfast.yaml by questions on a terminal, else by flags. No daemon is needed. */
import { existsSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { readNumber } from "../../base/durations.ts";
import { INIT_WORKERS_MAX, NAME_MAX_BYTES } from "../../base/limits.ts";
import { KINDS, kindOf, PROGRAM_KIND, unknownKind } from "../../commands/kinds.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { SPEC_FIELDS } from "../../protocol/spec-fields.ts";
import type { CommandHandler, Context, Env } from "../context.ts";
import { invalid } from "../parse.ts";
import type { InitReply } from "../reports.ts";
import { readValue } from "../values.ts";
import { type Asker, makeAsker, type ReadAnswer } from "./init-questions.ts";
import { type InitAnswers, treeFileText } from "./init-text.ts";
import { findProgram } from "./programs.ts";

const PROMPT = "Read the README, and write down what you would improve first.";
/** A worker for somebody who has no agent CLI yet. */
const CLOCK = ["sh", "-c", "while :; do date; sleep 60; done"];
const PERMISSIONS = SPEC_FIELDS.permission.values;

/** Short names of the kinds whose program is on this machine. */
const foundKinds = (env: Env): readonly string[] =>
  KINDS.filter(
    ({ binary, variable }) =>
      binary !== null &&
      findProgram((variable === null ? undefined : env[variable]) ?? binary, env) !== undefined,
  ).map(({ short }) => short);

/** A directory's name, with what a name may not have as dashes. */
const nameOf = (directory: string): string =>
  basename(directory)
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, NAME_MAX_BYTES) || "tree";

const yesOrNo: ReadAnswer<boolean> = (text) => {
  if (/^y(es)?$/i.test(text)) return { value: true };
  return /^n(o)?$/i.test(text) ? { value: false } : { problem: "is y or n" };
};
const oneOf =
  (values: readonly string[]): ReadAnswer<string> =>
  (text) =>
    values.includes(text) ? { value: text } : { problem: `is one of ${values.join(", ")}` };
const kindAnswer: ReadAnswer<string> = (text) => {
  const known = kindOf(text);
  if (known === undefined) return { problem: `is no kind: ${unknownKind(text)}` };
  return known.kind === PROGRAM_KIND
    ? { problem: "is a program: stop, and run agent init -- PROGRAM" }
    : { value: known.short };
};
const anyText: ReadAnswer<string> = (value) => ({ value });
const modelAnswer: ReadAnswer<string> = (text) =>
  text === "" ? { problem: "is PROVIDER/MODEL, as in openai/MODEL" } : { value: text };
const countAnswer: ReadAnswer<number> = (text) => {
  const read = readValue({ type: "int", min: 1, max: INIT_WORKERS_MAX }, text);
  return read.ok ? { value: read.value as number } : { problem: read.problem };
};
const dollars: ReadAnswer<number | undefined> = (text) => {
  const read = readNumber(text);
  if (!read.ok || read.value < 0) return { problem: "is a number of dollars, 0 for no limit" };
  return { value: read.value === 0 ? undefined : read.value };
};

/** A worker that runs a program; nothing of it is asked. */
const programAnswers = (name: string, argv: readonly string[], { flags }: Context): InitAnswers => ({
  name,
  kind: PROGRAM_KIND,
  argv,
  prompt: "",
  workers: (flags.workers as number | undefined) ?? 1,
  model: undefined,
  permission: "deny",
  worktree: false,
  usd: undefined,
});

/** The answers of the flags. Anything that no flag says is asked, or has its default if nobody can be asked. */
const agentAnswers = async (
  name: string,
  found: readonly string[],
  { flags }: Context,
  asker: Asker | undefined,
): Promise<InitAnswers> => {
  const answer = async <T>(
    flag: string,
    question: string,
    fallback: string,
    read: ReadAnswer<T>,
  ): Promise<T> => {
    if (flags[flag] !== undefined) return flags[flag] as T;
    if (asker !== undefined) return asker.ask(question, fallback, read);
    const taken = read(fallback);
    if ("problem" in taken) throw invalid([`--${flag} is missing: it ${taken.problem}`], "init");
    return taken.value;
  };
  const there = found.length === 0 ? "none found on PATH" : `found: ${found.join(", ")}`;
  const kind = await answer("kind", `Which agent (${there})?`, found[0] ?? KINDS[0]!.short, kindAnswer);
  const known = kindOf(kind);
  const prompt = await answer("prompt", "Its task?", PROMPT, anyText);
  // A kind without a program of its own runs a model, and has none by default.
  const model =
    known?.binary === null && known.refuses.includes("model") === false
      ? await answer("model", "Its model?", "", modelAnswer)
      : (flags.model as string | undefined);
  const workers = await answer("workers", "How many of them?", "1", countAnswer);
  const permission =
    known?.converses === true
      ? await answer(
          "permission",
          "A call that no rule covers (ask, deny, allow)?",
          "ask",
          oneOf(PERMISSIONS),
        )
      : ((flags.permission as string | undefined) ?? "deny");
  const worktree = await answer(
    "worktree",
    "A git worktree for each (y, n)?",
    workers > 1 ? "y" : "n",
    yesOrNo,
  );
  const usd = await answer("usd", "Dollars for all together, 0 for no limit?", "5", dollars);
  return {
    name,
    kind,
    argv: [],
    prompt,
    workers,
    model,
    permission,
    worktree,
    usd: usd === 0 ? undefined : usd,
  };
};

const linesOf = (context: Context): AsyncIterator<string> => {
  const lines = createInterface({
    input: Readable.from(context.stdin()),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  context.cleanups.push(() => lines.close());
  return lines[Symbol.asyncIterator]();
};

/** Whether a person sits there to be asked. */
const mayAsk = ({ flags, mode, isStdinTerminal, isStderrTerminal }: Context): boolean =>
  flags.yes !== true && mode === "text" && isStdinTerminal() && isStderrTerminal;

/** The same reader as that of `agent up`, so that what is written can be brought up. */
const assertReadable = async (path: string, text: string): Promise<void> => {
  // Loaded on demand, because it loads zod and yaml.
  const { readTreeFile } = await import("../../tree-file/read.ts");
  const read = readTreeFile({ file: path, readFile: () => ({ ok: true, value: text }) });
  if (!read.ok) throw invalid(read.problems, "init");
};

export const init: CommandHandler = async (context) => {
  const { flags, cwd, env } = context;
  const path = resolve(cwd, (flags.file as string | undefined) ?? "holdfast.yaml");
  const isThere = existsSync(path);
  if (isThere && flags.force !== true)
    throw new HoldfastError("ALREADY_EXISTS", `${path} exists already.`, {
      suggestion: "Edit it, choose another --file, or overwrite it with --force.",
    });
  if (!existsSync(dirname(path))) throw invalid([`--file ${path}: its directory does not exist`], "init");
  const found = foundKinds(env);
  const { argv } = context.call;
  const isAsked = argv === undefined && mayAsk(context);
  const asker = isAsked ? makeAsker(linesOf(context), (text) => context.stderr(text)) : undefined;
  const name = (flags.name as string | undefined) ?? nameOf(dirname(path));
  const isClock = argv === undefined && flags.kind === undefined && found.length === 0 && asker === undefined;
  const program = argv ?? (isClock ? CLOCK : undefined);
  const answers =
    program === undefined
      ? await agentAnswers(name, found, context, asker)
      : programAnswers(name, program, context);
  const text = treeFileText(answers);
  await assertReadable(path, text);
  if (isClock) context.notice("No agent CLI was found on PATH, so the worker is a clock. See: agent doctor");
  const told = { path, text, kind: answers.kind, found };
  if (flags["dry-run"])
    return success<InitReply>({ ...told, effect: isThere ? "would_update" : "would_create" });
  writeFileSync(path, text, { flag: flags.force === true ? "w" : "wx" });
  context.hint("see what it would start: agent up --dry-run   start it: agent up", "after");
  return success<InitReply>({ ...told, effect: isThere ? "updated" : "created" });
};
