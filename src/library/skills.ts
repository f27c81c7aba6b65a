/** `runtime.skills`: runs of skills, each in a sandbox of its own. */
import { resolve } from "node:path";
import type { SkillAnswer, SkillsReply, SkillView } from "../protocol/replies/skills.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked, optionsOf } from "./checked.ts";
import type { SkillRunOptions } from "./options.ts";
import type { RunCall } from "./promises.ts";

export class RuntimeSkills {
  readonly #api: RuntimeCalls["skills"];
  readonly #call: RunCall;

  /** @internal */
  constructor(api: RuntimeCalls["skills"], call: RunCall) {
    this.#api = api;
    this.#call = call;
  }

  /**
   * Resolves with the answer once the run has ended. Rejects with SKILL_NOT_FOUND, SANDBOX_UNAVAILABLE, POLICY_VIOLATION
   * (`info.details.rule` names the rule), SKILL_DOWN, TIMEOUT, or with the skill's own error.
   */
  run(skill: string, input: SkillInput = {}, options: SkillRunOptions = {}): Promise<SkillAnswer> {
    return this.#call(() => {
      const { workspace = ".", secrets = {}, ...how } = optionsOf(options);
      return this.#api.run(
        checked("skill/run", { skill, input, workspace: resolve(workspace), client_env: secrets, ...how }),
      );
    });
  }

  /** The skills of a workspace, by default the working directory: also those that cannot be run. */
  list(workspace = "."): Promise<SkillsReply> {
    return this.#call(() =>
      this.#api.list(checked("skill/list", { workspace: resolve(workspace) }).workspace),
    );
  }

  info(skill: string, workspace = "."): Promise<SkillView> {
    return this.#call(() => {
      const asked = checked("skill/info", { skill, workspace: resolve(workspace) });
      return this.#api.info(asked.skill, asked.workspace);
    });
  }
}

/** A JSON object. */
type SkillInput = NonNullable<Parameters<typeof checked<"skill/run">>[1]["input"]>;
