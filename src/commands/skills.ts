/** Commands that run and show skills. */
import type { FlagDef } from "../base/flag.ts";
import { PROFILE_NAMES } from "../protocol/words.ts";
import { inGroup } from "./command.ts";

const skillWorkspace: FlagDef = {
  name: "workspace",
  short: "C",
  type: "string",
  value: "DIR",
  help: "the directory that the skill sees",
  default: "here",
};

export const SKILL_COMMANDS = inGroup("Skills", [
  {
    words: ["run"],
    command: "skill/run",
    danger: "mutating",
    exits: [2, 5, 6, 7, 8, 10, 11],
    summary: "Run a skill in its sandbox, and print its answer",
    details:
      "A skill sees its workspace and the programs of the system, and nothing else: no home, no socket, no network. Its manifest names everything else that it needs. Starts the daemon if none runs. The run is a worker; `agent logs JOB` shows the skill's logs. Ctrl-C ends it.",
    args: [{ name: "SKILL", help: "as agent skills list names it, NAMESPACE/VERB", required: true }],
    flags: [
      {
        name: "input",
        type: "string",
        value: "JSON",
        help: "its input, a JSON object; @FILE reads a file, - reads stdin",
        default: "{}",
      },
      skillWorkspace,
      { name: "timeout", type: "duration", value: "D", help: "longest run", default: "its manifest's, 60s" },
      {
        name: "profile",
        type: "enum",
        values: PROFILE_NAMES,
        value: "PROFILE",
        help: "refuse a skill that this profile does not name",
      },
      {
        name: "secret",
        type: "string",
        value: "NAME",
        repeatable: true,
        help: "your variable that a built-in skill may read; other skills name theirs in the manifest",
      },
    ],
    examples: [
      "agent run fs/ls",
      `agent run fs/ls --input '{"path":"src"}' --workspace ~/work`,
      "agent run weather/today --input @city.json",
    ],
  },
  {
    words: ["skills", "list"],
    command: "skill/list",
    request: "skill/list",
    danger: "safe",
    summary: "List the skills of a workspace",
    details:
      "The first place wins: built-in skills, `skills` in the state directory, the directories of config.yaml, `.holdfast/skills` in the workspace.",
    flags: [skillWorkspace],
    examples: ["agent skills list"],
  },
  {
    words: ["skills", "show"],
    command: "skill/info",
    request: "skill/info",
    danger: "safe",
    exits: [5],
    summary: "Show a skill and its rights",
    args: [{ name: "SKILL", help: "NAMESPACE/VERB", required: true }],
    flags: [skillWorkspace],
    examples: ["agent skills show fs/ls"],
  },
  {
    words: ["skills", "check"],
    command: "skill/check",
    request: "skill/check",
    danger: "safe",
    exits: [3, 5],
    summary: "Check the manifest of a skill",
    args: [{ name: "FOLDER", help: "the folder of its skill.yaml or SKILL.md", required: true }],
    examples: ["agent skills check ~/.local/state/holdfast/skills/weather"],
  },
]);
