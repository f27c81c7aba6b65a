/**
 * Completion. The scripts are a few lines and call `agent __complete WORD…`, so they know every command and flag of the
 * installed version, and the current workers.
 */
import type { CommandDef } from "../commands/command.ts";
import { COMMANDS } from "../commands/commands.ts";
import { GLOBAL_FLAGS } from "../commands/flags.ts";
import { KINDS, NAMED_AGENTS } from "../commands/kinds.ts";
import type { WorkerView } from "../runtime/api.ts";
import { findCommand } from "./parse.ts";

export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_agent() {
  local IFS=$'\\n'
  COMPREPLY=($(agent __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _agent agent holdfast
`,
  zsh: `#compdef agent holdfast
_agent() {
  local -a candidates
  candidates=("\${(@f)$(agent __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\\\:/g' -e 's/\t/:/')}")
  if [[ -n "\${candidates[1]}" ]]; then _describe agent candidates; else _files; fi
}
compdef _agent agent holdfast
`,
  fish: `for name in agent holdfast
  complete -c $name -e
  complete -c $name -f -a '(agent __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
  complete -c $name -l cwd -l file -l prompt-file -l state-dir -r -F
end
`,
};

type Candidate = readonly [word: string, what: string];

const flagsOf = (command: CommandDef | undefined): readonly Candidate[] =>
  [...(command?.flags ?? []), ...GLOBAL_FLAGS].map((flag) => [`--${flag.name}`, flag.help]);

const firstWords = (): readonly Candidate[] => {
  const words = new Map<string, string>();
  for (const command of COMMANDS) {
    const [first] = command.words;
    words.set(first!, command.words.length === 1 ? command.summary : `${first} …`);
  }
  return [...words];
};

/** bash breaks words at `=`: `--output=js` comes as `--output`, `=`, `js`. */
const rejoined = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, at) => {
    if (word !== "=" || !words[at - 1]?.startsWith("--")) return [word];
    return at === words.length - 1 ? [""] : [];
  });

/** People type names. An id is offered for a worker without a name, or once the user has begun to type an id. */
const workersAs = (
  workers: readonly WorkerView[],
  typed: string,
  given: readonly string[],
): readonly Candidate[] =>
  workers.flatMap((worker): readonly Candidate[] => {
    const { id, name, kind, state } = worker;
    if (given.includes(id) || (name !== null && given.includes(name))) return [];
    const what = `${kind}, ${state.replaceAll("_", " ")}`;
    const isId = name === null || (typed !== "" && id.startsWith(typed) && !name.startsWith(typed));
    return [[isId ? id : name, isId && name !== null ? `${name}: ${what}` : what]];
  });

const commandWords = (before: readonly string[]): readonly Candidate[] =>
  before.length === 0
    ? [...firstWords(), ["help", "help for a command"]]
    : COMMANDS.filter(({ words: [first, second] }) => first === before[0] && second !== undefined).map(
        (each) => [each.words[1]!, each.summary],
      );

/** Candidates for the last of `words`. `workers` is called only where a worker is possible, for all workers or the living ones. */
export const candidates = async (
  words: readonly string[],
  workers: (all: boolean) => Promise<readonly WorkerView[]>,
): Promise<readonly Candidate[]> => {
  const split = rejoined(words);
  const typed = split.at(-1) ?? "";
  const before = split.slice(0, -1);
  const matching = (all: readonly Candidate[]): readonly Candidate[] =>
    all.filter(([word]) => word.startsWith(typed));
  if (before.includes("--")) return [];
  const plain = before.filter((word) => !word.startsWith("-"));
  if (plain[0] === "help") return matching(commandWords(plain.slice(1)));
  const command = findCommand(plain);
  const previous = before.at(-1) ?? "";
  const valued = [...(command?.flags ?? []), ...GLOBAL_FLAGS].find(
    (flag) =>
      flag.type !== "bool" &&
      !flag.optional &&
      (previous === `--${flag.name}` || previous === `-${flag.short}`),
  );
  if (valued?.complete === "worker") return matching(workersAs(await workers(true), typed, []));
  if (valued) return matching((valued.values ?? valued.suggests ?? []).map((value) => [value, valued.help]));
  if (typed.startsWith("-")) return matching(flagsOf(command));
  if (command === undefined) return matching(commandWords(plain));
  const given = plain.slice(command.words.length);
  const arg = command.args[given.length] ?? command.args.find((each) => each.variadic);
  if (arg?.values) return matching(arg.values.map((value) => [value, arg.help]));
  if (arg?.complete === "kind")
    return matching([...KINDS, ...NAMED_AGENTS].map(({ short, kind }) => [short, kind]));
  if (arg?.complete === undefined) return [];
  return matching(workersAs(await workers(arg.complete === "worker"), typed, given));
};
