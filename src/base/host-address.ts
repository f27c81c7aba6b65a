/**
 * The address of a host: a machine, or anything else behind a program, whose daemon a client reaches by a program that joins
 * stdin and stdout (`agent relay`). Pure.
 */
import { commandLine } from "./shell.ts";

export interface HostAddress {
  /** As the user wrote it. */
  readonly text: string;
  /** The program that reaches the host; the words of the relay follow. */
  readonly reach: readonly string[];
  /** The words of the relay are one word, which the shell of the host takes apart. */
  readonly isShell: boolean;
}

/** The word of `--host` for this machine. */
export const LOCAL_HOST = "local";
/** The word of `--host` for this machine, every host of the configuration, and the nodes of the cluster. */
export const ALL_HOSTS = "all";

/** A host as a call names it. */
export interface NamedHost {
  readonly name: string;
  /** Undefined for this machine. */
  readonly address: HostAddress | undefined;
  /** Why nothing can be reached by it: it stands for hosts that are not known. */
  readonly trouble?: string;
}

/**
 * The hosts in one value of `--host`, which commas separate; "" where nothing stands between two of them. The words of a program may
 * have commas, so `exec:` comes last.
 */
export const hostNamesIn = (text: string): readonly string[] => {
  const program = /(?:^|,)\s*(exec:.*)$/.exec(text);
  if (program === null) return text.split(",").map((name) => name.trim());
  const before = program[0].startsWith(",") ? hostNamesIn(text.slice(0, program.index)) : [];
  return [...before, program[1]!];
};

/** No name begins with `-`: ssh would read it as an option. */
const SSH =
  /^ssh:\/\/(?:([A-Za-z0-9_][\w.-]*)@)?(?:\[([0-9A-Fa-f:]+)\]|([A-Za-z0-9_][\w.-]*))(?::(\d{1,5}))?\/?$/;
const EXEC = /^exec:\s*(\S.*)$/;
const PORT_MAX = 65_535;

/** Reads `ssh://[USER@]MACHINE[:PORT]` or `exec:PROGRAM ARGUMENT…`, whose words stand between spaces. Undefined if it is neither. */
export const parseHost = (text: string): HostAddress | undefined => {
  const program = EXEC.exec(text)?.[1];
  if (program !== undefined) return { text, reach: program.trim().split(/ +/), isShell: false };
  const [, user, bracketed, plain, digits] = SSH.exec(text) ?? [];
  const machine = bracketed ?? plain;
  if (machine === undefined || Number(digits ?? 1) < 1 || Number(digits ?? 1) > PORT_MAX) return undefined;
  const port = digits === undefined ? [] : ["-p", digits];
  const place = user === undefined ? machine : `${user}@${machine}`;
  return { text, reach: ["ssh", "-T", ...port, "--", place], isShell: true };
};

/** The forms of an address in words. */
export const ENDPOINT_FORM =
  "ssh://[USER@]MACHINE[:PORT], or exec:PROGRAM ARGUMENT… that runs a command there";

/** The whole argv for the relay of a host. */
export const relayArgv = ({ reach, isShell }: HostAddress, words: readonly string[]): readonly string[] =>
  isShell ? [...reach, commandLine(words)] : [...reach, ...words];
