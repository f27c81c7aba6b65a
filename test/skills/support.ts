/** A runtime with skills in a place of its own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type HoldfastError, Runtime } from "../../src/library/index.ts";
import type { OpenOptions } from "../../src/library/options.ts";

export interface SkillPlace {
  readonly runtime: Runtime;
  readonly root: string;
  readonly stateDir: string;
  readonly workspace: string;
  /** A skill of the state directory whose program is a shell script. Without `files`, it may write to the workspace. */
  add(name: string, script: string, more?: string): void;
}

/** An envelope of a skill, as a shell prints it; `data` is JSON, in which shell variables may stand. */
export const printed = (name: string, data: string): string =>
  `cat <<END
{"version":1,"status":"ok","command":"${name}","data":${data},"meta":{"ts":"2026-05-12T00:00:00Z","duration_ms":0},"error":{"code":null,"message":null}}
END`;

export const skillPlace = async (options: OpenOptions = {}): Promise<SkillPlace> => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-skills-")));
  const [stateDir, workspace] = [join(root, "state"), join(root, "work")];
  mkdirSync(workspace);
  const runtime = await Runtime.open({ stateDir, ...options });
  onTestFinished(async () => {
    await runtime.close();
    rmSync(root, { recursive: true, force: true });
  });
  const add: SkillPlace["add"] = (name, script, more = "") => {
    const folder = join(stateDir, "skills", name.replace("/", "-"));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "run.sh"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    writeFileSync(join(folder, "skill.yaml"), `name: ${name}\nsummary: A test.\nrun: [./run.sh]\n${more}`);
  };
  return { runtime, root, stateDir, workspace, add };
};

/** The error of a run that fails. */
export const errorOf = async (run: Promise<unknown>): Promise<HoldfastError> =>
  run.then(
    (value) => {
      throw new Error(`it went well: ${JSON.stringify(value)}`);
    },
    (error: HoldfastError) => error,
  );
