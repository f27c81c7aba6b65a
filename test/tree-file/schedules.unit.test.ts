/** `schedules:` of a holdfast.yaml: workers with the times at which they start. */
import { describe, expect, it } from "vitest";
import { problemsOf, read } from "./support.ts";

const file = (schedules: string, tree = "tree: { strategy: dynamic }"): string =>
  `version: 1\n${tree}\nschedules:\n${schedules
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n")}\n`;

describe("schedules", () => {
  it("are workers with a cron line, a zone and policies", () => {
    const { tree, places } = read(
      file(`- name: nightly
  cron: "30 2 * * *"
  zone: Europe/Berlin
  overlap: replace
  missed: skip
  starting_deadline: 1h
  argv: [backup, "--all"]
  grace: 5s
- { name: news, cron: "@daily", missed: all, missed_max: 3, kind: claude, prompt: "Read the news." }`),
    );
    expect(tree.schedules).toMatchObject([
      {
        name: "nightly",
        cron: "30 2 * * *",
        zone: "Europe/Berlin",
        overlap: "replace",
        missed: "skip",
        missed_max: 10,
        starting_deadline_ms: 3_600_000,
        spec: {
          kind: "command",
          argv: ["backup", "--all"],
          cwd: "/work/shop",
          grace_ms: 5_000,
          restart: "temporary",
        },
      },
      { name: "news", overlap: "forbid", missed: "all", missed_max: 3, spec: { prompt: "Read the news." } },
    ]);
    expect(places.get("schedules/nightly")).toMatchObject({ line: 4 });
  });

  it("may be all that a file has, and take variables", () => {
    const { tree } = read(
      'version: 1\nvariables: { AT: "0 4 * * *" }\nschedules: [{ name: a, cron: "${AT}", argv: [b] }]\n',
    );
    expect(tree.root).toMatchObject({ config: { strategy: "dynamic" }, children: [] });
    expect(tree.schedules).toMatchObject([{ cron: "0 4 * * *" }]);
  });

  it("are not sent where there are none, because an older daemon does not know them", () => {
    expect(read("version: 1\ntree: { strategy: dynamic }\n").tree).not.toHaveProperty("schedules");
    expect(read(file("[]")).tree).not.toHaveProperty("schedules");
  });

  it.each([
    [
      '- { name: a, cron: "61 * * * *", argv: [b] }',
      '4:22: cron has a field "61" that is wrong: expected a value between 0 and 59.',
    ],
    [
      "- { name: a, cron: daily, argv: [b] }",
      "4:22: cron needs five fields: minute, hour, day, month and weekday, or six fields with the second first.",
    ],
    ["- { name: a, argv: [b] }", "4:5: a schedule needs the key cron."],
    [
      '- { name: a, cron: "@daily" }',
      "4:5: schedules/a needs a kind (claude, codex, gemini …), or the argv of a program.",
    ],
    [
      '- { name: a, cron: "@daily", zone: Mars, argv: [b] }',
      "4:38: zone is no time zone of the IANA, such as UTC or Europe/Berlin.",
    ],
    [
      '- { name: a, cron: "@daily", overlap: both, argv: [b] }',
      '4:41: overlap is one of forbid, allow, replace, not "both".',
    ],
    [
      '- { name: a, cron: "@daily", restart: permanent, argv: [b] }',
      "4:41: restart is permanent, and a worker of a schedule must end: use transient or temporary.",
    ],
    [
      '- { name: a, cron: "@daily", overlap: replace, missed: all, argv: [b] }',
      "4:58: missed is all, and with overlap: replace each missed run would end the one before it; use once.",
    ],
    ['- { name: a, crom: "@daily", argv: [b] }', '4:16: a schedule has no "crom"; did you mean cron?'],
    [
      '- { name: "a b", cron: "@daily", argv: [b] }',
      "4:13: name has letters, digits, '.', '_' and '-', and starts with a letter or digit.",
    ],
    [
      '- { name: a, cron: "@daily", argv: [b] }\n- { name: a, cron: "@daily", argv: [b] }',
      "5:7: a schedule in line 4 is called a already.",
    ],
    ["- nightly", '4:5: a schedule needs keys, as in { name: nightly, cron: "0 3 * * *", argv: [backup] }.'],
  ])("%s", (schedules, problem) => {
    expect(problemsOf(file(schedules))).toEqual([`holdfast.yaml:${problem}`]);
  });
});
