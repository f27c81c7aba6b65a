/**
 * The next step of an error for a program. Errors name commands and flags of the command line; a program calls
 * `runtime.kill(…)` and gives `timeout_ms`. A step that only the command line has stays as it is. Pure.
 */
import { HoldfastError } from "../protocol/errors.ts";

/** The error as a program sees it: `suggestion` for itself, and `suggestion_cli` where that differs. */
export const inProgram = (error: HoldfastError): HoldfastError => {
  const cli = error.suggestion_cli;
  const suggestion = suggestionInProgram(cli);
  if (suggestion === cli || error.suggestion !== cli) return error;
  const told = new HoldfastError(error.code, error.message, {
    ...error.info,
    suggestion,
    suggestion_cli: cli,
  });
  if (error.stack !== undefined) told.stack = error.stack;
  return told;
};

/** A command without quotes follows a colon. It ends with its sentence, at a semicolon, or where a gap parts two steps. */
const BARE = /: agent ([^`;]+?)(\.?)(?=$|;| {2}|\. [A-Z])/g;
/** Words in code quotes, or a flag outside of them. */
const QUOTED_OR_FLAG = /`([^`]+)`|(?<![\w-])--([a-z]+(?:-[a-z]+)*)/g;

export const suggestionInProgram = (text: string): string =>
  text
    .replace(BARE, (all, command: string, stop: string) => {
      const call = calledBy(command);
      return call === undefined ? all : `: ${call}${stop}`;
    })
    .replace(QUOTED_OR_FLAG, (all, quoted: string | undefined, flag: string | undefined) => {
      if (flag !== undefined) return `\`${optionOf(flag)}\``;
      if (quoted?.startsWith("agent ")) return calledBy(quoted.slice("agent ".length)) ?? all;
      return quoted !== undefined && /^--[a-z]/.test(quoted)
        ? `\`${given(quoted.split(" ")).options.join(", ")}\``
        : all;
    });

/** Commands with a call, and the options that it always takes. */
const CALLS: Readonly<Record<string, readonly [call: string, ...always: string[]]>> = {
  answer: ["answer"],
  approvals: ["approvals"],
  "bb claim": ["blackboard.claim"],
  "bb list": ["blackboard.list"],
  "bb watch": ["blackboard.watch"],
  "board dispatch": ["board.dispatch"],
  "board list": ["board.list"],
  "board show": ["board.show"],
  capabilities: ["capabilities"],
  "daemon status": ["status"],
  "db check": ["check"],
  down: ["downTree"],
  fork: ["resume", "fork: true"],
  inbox: ["inbox"],
  info: ["info"],
  kill: ["kill"],
  list: ["list"],
  logs: ["watch"],
  "mailbox list": ["mailbox.list"],
  "mailbox poll": ["mailbox.poll"],
  "mailbox show": ["mailbox.show"],
  messages: ["messages"],
  restart: ["restart"],
  resume: ["resume"],
  "schedule list": ["schedules.list"],
  "schedule next": ["schedules.next"],
  "schedule pause": ["schedules.pause"],
  send: ["send"],
  "skills list": ["skills.list"],
  "token list": ["tokens.list"],
  "token revoke": ["tokens.revoke"],
  tree: ["tree"],
  up: ["applyTree"],
  wait: ["wait"],
  watch: ["watch"],
  why: ["why"],
};

/** The call that does what the command does, in code quotes; undefined if there is none. */
const calledBy = (said: string): string | undefined => {
  const words = said.split(" ");
  const isPair = Object.hasOwn(CALLS, words.slice(0, 2).join(" "));
  const name = words.slice(0, isPair ? 2 : 1).join(" ");
  if (!Object.hasOwn(CALLS, name)) return undefined;
  const [call, ...always] = CALLS[name]!;
  const rest = words.slice(isPair ? 2 : 1);
  if (name === "logs" && rest.includes("--raw")) return `\`runtime.raw(${given(rest).values.join(", ")})\``;
  const { values, options } = given(name === "logs" ? rest.filter((word) => word !== "-f") : rest);
  if (name === "kill" && options.includes("all: true")) return "`runtime.killAll()`";
  const all = [...always, ...options];
  const args = [...values, ...(all.length === 0 ? [] : [`{ ${all.join(", ")} }`])];
  return `\`runtime.${call}${args.length === 0 && rest.length === 0 ? "" : `(${args.join(", ")})`}\``;
};

/** Arguments of a command line as those of a call. */
const given = (words: readonly string[]): { readonly values: string[]; readonly options: string[] } => {
  const values: string[] = [];
  const options: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (!word.startsWith("--")) {
      values.push(written(word));
      continue;
    }
    const name = optionOf(word.slice(2));
    const next = words[at + 1];
    if (next === undefined || next.startsWith("-")) options.push(`${name}: true`);
    else {
      options.push(`${name}: ${written(next)}`);
      at += 1;
    }
  }
  return { values, options };
};

/** `ID` stands for any value; `allow|deny` for one of several. */
const written = (word: string): string => {
  if (/^\d+$/.test(word)) return word;
  if (/^[A-Z]+$/.test(word)) return word.toLowerCase();
  return word
    .split("|")
    .map((one) => JSON.stringify(one))
    .join(" | ");
};

/** Options whose names are not those of their flags; most have a unit. */
const OPTIONS: Readonly<Record<string, string>> = {
  deadline: "deadline_at",
  "output-quota": "output_quota_bytes",
  "prompt-file": "prompt",
  stall: "stall_ms",
  "state-dir": "stateDir",
  timeout: "timeout_ms",
};

const optionOf = (flag: string): string => OPTIONS[flag] ?? flag.replaceAll("-", "_");
