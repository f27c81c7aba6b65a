/**
 * Extracts a script from the command line as codex reports it: a shell, with the script as a quoted argument.
 * People and rules that decide about the command must see the script.
 */

/**
 * `/bin/bash -lc 'git status'` becomes `git status`. Every other command stays as it is, even a relative
 * `bash`, because the working directory may contain any program with that name.
 */
export const scriptOf = (command: string): string => {
  const [, quoted] = SHELL.exec(command) ?? [];
  return (quoted === undefined ? undefined : unquoted(quoted)) ?? command;
};

const SHELL = /^(?:(?:\/usr|\/usr\/local|\/opt\/homebrew)?\/bin\/)?(?:ba|z|da|k)?sh -l?c ([\s\S]+)$/;

/**
 * A single word as POSIX shells read it (2.2 Quoting); undefined if it is more than one word, or a quote is
 * not closed.
 */
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
