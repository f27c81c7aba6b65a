/** Skills as text for people. */
import type { SkillsReply, SkillView } from "../../protocol/replies/skills.ts";
import { oneLine, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";

/** It is the last column: a terminal cuts it at its edge, and a pipe gets it whole. */
const SUMMARY_MAX_CHARS = 1_024;

const standingOf = ({ runner, problems, breaker }: SkillView): string => {
  if (problems.length > 0) return "mistakes";
  if (runner === null) return "instructions";
  return breaker === "closed" ? "ready" : "failing";
};

const networkOf = ({ network }: SkillView): string =>
  network === "asked" ? "as its input says" : typeof network === "string" ? network : network.join(" ");

const skillsText: TextOf<SkillsReply> = ({ skills }, { paint, columns }) => {
  if (skills.length === 0) return "";
  const head = ["SKILL", "STATE", "FROM", "NETWORK", "SUMMARY"].map((cell) => paint("dim", cell));
  const rows = skills.map((skill) => {
    const standing = standingOf(skill);
    return [
      oneLine(skill.skill, 80),
      paint(standing === "ready" ? "good" : "warn", standing),
      skill.origin,
      oneLine(networkOf(skill), 40),
      oneLine(skill.problems[0] ?? skill.summary, SUMMARY_MAX_CHARS),
    ];
  });
  return table([head, ...rows], { fit: columns });
};

const skillText: TextOf<SkillView> = (skill, { paint }) => {
  const { summary, version, runner, origin, folder, files, variables, state, problems } = skill;
  const rows: readonly (readonly [string, string])[] = [
    ["skill", skill.skill],
    ["summary", summary],
    ["state", standingOf(skill)],
    ["version", version ?? ""],
    ["runner", runner ?? ""],
    ["from", folder === null ? origin : `${origin}: ${folder}`],
    ["workspace", files],
    ["network", networkOf(skill)],
    ["secrets", variables.join(" ")],
    ["keeps", state ? "a private directory of each workspace" : ""],
    ...problems.map((problem) => ["mistake", problem] as const),
  ];
  return table(
    rows
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [paint("dim", name), oneLine(value, SUMMARY_MAX_CHARS)]),
  );
};

export const SKILL_TEXTS = {
  "skill/list": skillsText,
  "skill/info": skillText,
  "skill/check": skillText,
};
