/** A program and its arguments as one line that a POSIX shell would read back as the same words. */

const SAFE_WORD = /^[A-Za-z0-9_./:=@%+,-]+$/;

const shellWord = (word: string): string =>
  SAFE_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

export const commandLine = (argv: readonly string[]): string => argv.map(shellWord).join(" ");
