/**
 * The command of a shell as codex tells it: one line of words, quoted for a shell, of a shell that is given a script. Whoever
 * is asked, and the rules of the worker's spec, are to see the script.
 */

/**
 * `/bin/bash -lc 'git status'` is `git status`; every other command is itself, also that of a program which is only called so: a
 * directory of the work may hold a `bash` of anybody's.
 */
export const scriptOf = (command: string): string => {
  const [, quoted] = SHELL.exec(command) ?? [];
  return (quoted === undefined ? undefined : unquoted(quoted)) ?? command;
};

const SHELL = /^(?:(?:\/usr|\/usr\/local|\/opt\/homebrew)?\/bin\/)?(?:ba|z|da|k)?sh -l?c ([\s\S]+)$/;

/** A single word as POSIX shells read it (2.2 Quoting); undefined where it is more than one, or not closed. */
const unquoted = (word: string): string | undefined => {
  let text = "";
  let at = 0;
  while (at < word.length) {
    PART.lastIndex = at;
    const found = PART.exec(word);
    if (found === null) return undefined;
    const [whole, single, double, escaped, bare] = found;
    text += single ?? double?.replace(/\\([$`"\\])/g, "$1") ?? escaped ?? bare;
    at += whole.length;
  }
  return text;
};

const PART = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\;&|<>()$`]+)/y;
