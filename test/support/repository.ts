/** Real git repositories for tests, with a configuration of their own and no GIT_* variable of anybody. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface TestRepository {
  /** Without links. Holds `repo`, and is removed by the test. */
  readonly root: string;
  readonly path: string;
  readonly client_env: Record<string, string>;
  git(...args: readonly string[]): string;
  gitIn(cwd: string, ...args: readonly string[]): string;
  write(file: string, text: string | Uint8Array): void;
}

export const makeRepository = (files: Readonly<Record<string, string>> = {}): TestRepository => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-git-")));
  const path = join(root, "repo");
  mkdirSync(path);
  const client_env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: root };
  const gitIn = (cwd: string, ...args: readonly string[]): string =>
    execFileSync("git", [...args], {
      cwd,
      env: client_env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const write = (file: string, text: string | Uint8Array): void => {
    const at = join(path, file);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
  };
  writeFileSync(join(root, ".gitconfig"), "[user]\n\tname = Test\n\temail = test@example.invalid\n");
  gitIn(path, "init", "--quiet", "--initial-branch=main");
  for (const [file, text] of Object.entries(files)) write(file, text);
  if (Object.keys(files).length > 0) {
    gitIn(path, "add", "--all");
    gitIn(path, "commit", "--quiet", "--message=first");
  }
  return { root, path, client_env, git: (...args) => gitIn(path, ...args), gitIn, write };
};
