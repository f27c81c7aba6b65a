/** agent board …: cards of issues, and a worker for each. */
import { resolve } from "node:path";
import { CARDS_AT_ONCE_MAX, CARDS_AT_ONCE_MAX_BYTES, CARDS_FILE_MAX_BYTES } from "../../base/limits.ts";
import { PROGRAM_KIND } from "../../commands/kinds.ts";
import type { Client } from "../../daemon/client.ts";
import { largestEffect } from "../../protocol/board.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CardsAdded } from "../../protocol/replies/board.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import { CARD_LANES, type CardLane } from "../../protocol/words.ts";
import type { CommandHandler, Context } from "../context.ts";
import { type Call, type CallPlace, invalid } from "../parse.ts";
import { pageAsked, pageShown } from "./paging.ts";
import { readBounded, whyUnreadable } from "./read-file.ts";
import { askedSpec, readStdin, told } from "./spawn.ts";
import { spawnProblems } from "./spawn-spec.ts";
import { watchStream } from "./watch-stream.ts";

type CardLine = RequestInput<"board/add">["cards"][number];

const boardOf = ({ flags }: Pick<Context, "flags">): string | undefined => flags.board as string | undefined;
const onBoard = (context: Context): readonly string[] => {
  const board = boardOf(context);
  return board === undefined ? [] : ["--board", board];
};

export const addProblems = ({ args, flags }: Call): readonly string[] => {
  const [id, title] = args;
  const isOfFile = flags.from !== undefined;
  const own = ["body", "label", "priority"].filter((name) => flags[name] !== undefined);
  return [
    ...(isOfFile && id !== undefined ? ["agent board add takes CARD and TITLE, or --from, not both"] : []),
    ...(isOfFile ? own.map((name) => `--${name} is of one card; with --from each line says its own`) : []),
    ...(isOfFile || (id !== undefined && title !== undefined)
      ? []
      : ["agent board add needs CARD and TITLE, or --from F"]),
  ];
};

const textOf = async (context: Context, file: string, words: string): Promise<string> => {
  if (file === "-") return readStdin(context, CARDS_FILE_MAX_BYTES);
  try {
    const bytes = await readBounded(resolve(context.cwd, file), CARDS_FILE_MAX_BYTES);
    if (bytes !== undefined) return bytes.toString("utf8");
  } catch (cause) {
    throw invalid([`--from ${file} ${whyUnreadable(cause)}`], words);
  }
  throw invalid([`--from ${file} is over ${CARDS_FILE_MAX_BYTES} bytes`], words);
};

const MISTAKES_TOLD_MAX = 20;

/** Every line that is no JSON object is told; the daemon checks what the objects say. */
const linesOf = (text: string, file: string, words: string): readonly CardLine[] => {
  const problems: string[] = [];
  const lines = text.split("\n").flatMap((line, at): CardLine[] => {
    if (line.trim() === "") return [];
    try {
      const card: unknown = JSON.parse(line);
      if (typeof card === "object" && card !== null && !Array.isArray(card)) return [card as CardLine];
      problems.push(`line ${at + 1} of ${file} is no JSON object`);
    } catch {
      problems.push(`line ${at + 1} of ${file} is no valid JSON`);
    }
    return [];
  });
  if (problems.length > 0) throw invalid(problems.slice(0, MISTAKES_TOLD_MAX), words);
  return lines;
};

/** As many cards as one request may have. */
const requestsOf = (cards: readonly CardLine[]): readonly (readonly CardLine[])[] => {
  const all: CardLine[][] = [];
  let bytes = 0;
  for (const card of cards) {
    const size = Buffer.byteLength(JSON.stringify(card));
    const last = all.at(-1);
    if (last === undefined || last.length >= CARDS_AT_ONCE_MAX || bytes + size > CARDS_AT_ONCE_MAX_BYTES) {
      all.push([card]);
      bytes = size;
    } else {
      last.push(card);
      bytes += size;
    }
  }
  return all;
};

const addAll = async (
  client: Client,
  board: string | undefined,
  cards: readonly CardLine[],
): Promise<CardsAdded> => {
  const replies: CardsAdded[] = [];
  for (const some of requestsOf(cards))
    replies.push(await client.request("board/add", { board, cards: [...some] }));
  const added = replies.flatMap((reply) => reply.cards);
  return { board: replies[0]!.board, cards: added, effect: largestEffect(added) };
};

const cardsFrom = async (context: Context, words: string): Promise<readonly CardLine[]> => {
  const file = context.flags.from as string;
  const shown = file === "-" ? "stdin" : file;
  const cards = linesOf(await textOf(context, file, words), shown, words);
  if (cards.length === 0) throw invalid([`${shown} has no cards`], words);
  return cards;
};

const cardOf = ({ call, flags }: Context): CardLine => ({
  id: call.args[0]!,
  title: call.args[1]!,
  body: flags.body as string | undefined,
  labels: flags.label as string[] | undefined,
  priority: flags.priority as CardLine["priority"],
});

export const add: CommandHandler = async (context) => {
  const cards = context.flags.from === undefined ? [cardOf(context)] : await cardsFrom(context, "board add");
  const added = await addAll(await context.connect({ start: true }), boardOf(context), cards);
  const created = added.cards.filter(({ effect }) => effect === "created").length;
  const updated = added.cards.filter(({ effect }) => effect === "updated").length;
  context.hint(
    `${created} new, ${updated} with new words, ${added.cards.length - created - updated} as they were. See: agent board list${onBoard(
      context,
    )
      .map((word) => ` ${word}`)
      .join("")}`,
    "after",
  );
  return success(added);
};

export const listProblems = ({ flags }: Call): readonly string[] =>
  ((flags.lane as string[] | undefined) ?? [])
    .filter((lane) => !(CARD_LANES as readonly string[]).includes(lane))
    .map((lane) => `--lane knows no "${lane}": it is ${CARD_LANES.join(", ")}`);

export const list: CommandHandler = async (context) => {
  const lanes = context.flags.lane as CardLane[] | undefined;
  const client = await context.connect();
  const page = await client.request("board/list", { board: boardOf(context), lanes, ...pageAsked(context) });
  const isEmpty = Object.values(page.lanes).every((cards) => cards === 0);
  if (isEmpty) context.hint("No card. Add one with: agent board add CARD TITLE");
  else if (page.dispatcher === null)
    context.hint("Nothing is dispatched. Give each card a worker with: agent board dispatch KIND --slots N");
  const words = [
    "agent",
    "board",
    "list",
    ...onBoard(context),
    ...(lanes === undefined ? [] : ["--lane", lanes.join(",")]),
  ];
  return pageShown(context, page, { words, there: "There are more" });
};

export const show: CommandHandler = async (context) =>
  success(
    await (await context.connect()).request("board/show", {
      board: boardOf(context),
      id: context.call.args[0]!,
    }),
  );

export const claim: CommandHandler = async (context) => {
  const id = context.call.args[0]!;
  const moved = await (await context.connect()).request("board/claim", { board: boardOf(context), id });
  context.hint(
    `When it is done: agent board done ${id}   to give it back: agent board release ${id}`,
    "after",
  );
  return success(moved);
};

const move =
  (
    command: "board/release" | "board/retry" | "board/block" | "board/handoff" | "board/done",
  ): CommandHandler =>
  async (context) => {
    const reason = context.flags.reason as string | undefined;
    const asked = { board: boardOf(context), id: context.call.args[0]!, reason };
    return success(await (await context.connect()).request(command, asked));
  };

export const release = move("board/release");
export const retry = move("board/retry");
export const block = move("board/block");
export const handoff = move("board/handoff");
export const done = move("board/done");

/** Flags that say something of the dispatcher, and not of its workers. */
const OF_DISPATCHER = new Set([
  "board",
  "slots",
  "review",
  "from",
  "output",
  "state-dir",
  "envelope",
  "heartbeat-ms",
  "no-color",
  "help",
  "schema",
]);

const hasWorker = ({ args, argv }: Call): boolean => args.length > 0 || argv !== undefined;

/** A call of spawn for the worker of each card: without a prompt of its own the card's words are the prompt. */
const spawnCall = (call: Call): Call => {
  const { args, flags } = call;
  const { "no-worktree": isShared, ...given } = flags;
  const isPromptGiven = args[1] !== undefined || flags["prompt-file"] !== undefined;
  return {
    ...call,
    args: isPromptGiven ? args : [args[0] ?? PROGRAM_KIND, "{id}: {title}\n\n{body}"],
    flags: isShared === true ? given : { ...given, worktree: true },
  };
};

export const dispatchProblems = (call: Call, place?: CallPlace): readonly string[] => {
  if (hasWorker(call)) return spawnProblems(spawnCall(call), place);
  const given = Object.keys(call.flags).filter(
    (name) => call.flags[name] !== undefined && !OF_DISPATCHER.has(name),
  );
  if (given.length > 0)
    return given.map((name) => `--${name} is of a worker: give KIND, or a program after --`);
  const isEmpty = ["slots", "review", "from"].every((name) => call.flags[name] === undefined);
  return isEmpty ? ["agent board dispatch needs KIND, a program after --, or --slots"] : [];
};

export const dispatch: CommandHandler = async (context) => {
  const { call, flags } = context;
  const cards = flags.from === undefined ? [] : await cardsFrom(context, "board dispatch");
  const asked = hasWorker(call)
    ? await askedSpec(context, spawnCall(call))
    : { client: await context.connect({ start: true }), spec: undefined };
  const { client, spec } = asked;
  const board = boardOf(context);
  const outcome = await client.ask("board/dispatch", {
    board,
    slots: flags.slots as number | undefined,
    completed_lane: flags.review === true ? "Review" : undefined,
    spec,
  });
  const set = withoutWorktree(() => told(outcome, spec?.kind ?? PROGRAM_KIND));
  if (cards.length > 0) await addAll(client, board, cards);
  const flag = onBoard(context)
    .map((word) => ` ${word}`)
    .join("");
  context.hint(`see it: agent board list${flag}   follow it: agent board watch${flag}`, "after");
  return success(set);
};

/** A spawn without a worktree has none; here it must be said. */
const withoutWorktree = <A>(work: () => A): A => {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof HoldfastError) || cause.code !== "WORKTREE_UNAVAILABLE") throw cause;
    throw new HoldfastError(cause.code, cause.message, {
      ...cause.info,
      suggestion: "Give a --cwd inside a git repository that has a commit, or --no-worktree.",
    });
  }
};

export const watch: CommandHandler = (context) => {
  const words = ["board", "watch", ...onBoard(context)];
  return watchStream(context, { command: "board/watch", words, of: { board: boardOf(context) } });
};
