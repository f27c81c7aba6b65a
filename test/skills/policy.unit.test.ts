/** Rights to run skills: everything is denied that no list names. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PROFILE_NAMES } from "../../src/protocol/words.ts";
import { coversHost, denialOf, isNamed, SKILL_LISTS, type SkillAsk } from "../../src/skills/policy.ts";

const asked = (over: Partial<SkillAsk> = {}): SkillAsk => ({
  name: "fs/ls",
  holders: [],
  lists: SKILL_LISTS,
  hosts: [],
  isOfProject: false,
  isOfWorker: false,
  isOffline: false,
  allowed_hosts: [],
  ...over,
});
const ruleOf = (over: Partial<SkillAsk>) => denialOf(asked(over))?.rule;
const worker = { of: "01W", profile: "worker" } as const;

describe("profiles", () => {
  it("hold a worker, and a person only where one is asked for", () => {
    expect(ruleOf({ name: "my/skill" })).toBeUndefined();
    expect(ruleOf({ name: "my/skill", holders: [worker], isOfWorker: true })).toBe("profile");
    expect(ruleOf({ name: "todo/manage", holders: [{ of: "asked", profile: "companion" }] })).toBe("profile");
    expect(ruleOf({ holders: [worker], isOfWorker: true })).toBeUndefined();
  });

  it("allow nothing by an empty list", () => {
    expect(ruleOf({ holders: [worker], lists: { ...SKILL_LISTS, worker: [] } })).toBe("profile");
  });

  it("are each within the one before", () => {
    const [overseer, own, companion] = PROFILE_NAMES.map((name) => SKILL_LISTS[name]);
    expect(own!.every((name) => overseer!.includes(name))).toBe(true);
    expect(companion!.every((name) => own!.includes(name))).toBe(true);
  });

  it("name a namespace with a star, and nothing else by one", () => {
    expect(isNamed("my/*", "my/skill")).toBe(true);
    expect(isNamed("my/*", "mine/skill")).toBe(false);
    expect(isNamed("my/skill", "my/skills")).toBe(false);
  });

  it("of a child never allow what one above it does not", () => {
    const name = fc.constantFrom("a/a", "a/b", "b/a", "fs/ls");
    const list = fc.array(fc.constantFrom("a/*", "a/b", "b/a", "fs/*", "fs/ls"));
    const lists = fc.record({ overseer: list, worker: list, companion: list });
    const holder = fc.constantFrom(...PROFILE_NAMES).map((profile) => ({ of: "w", profile }));
    fc.assert(
      fc.property(name, lists, fc.array(holder, { minLength: 1, maxLength: 5 }), (skill, given, line) => {
        const of = (holders: typeof line) => denialOf(asked({ name: skill, lists: given, holders }));
        // A child has its own holder before those of its parent.
        if (of(line.slice(1)) !== undefined) expect(of(line)).toBeDefined();
      }),
    );
  });
});

describe("the rights of a worker", () => {
  it("end at skills of its workspace, which it could have written", () => {
    expect(ruleOf({ isOfProject: true, isOfWorker: true })).toBe("project_skill");
    expect(ruleOf({ isOfProject: true })).toBeUndefined();
  });

  it("end at hosts that the configuration does not allow, and at the network where one above has none", () => {
    const hosts = ["api.example.com:443"];
    expect(ruleOf({ hosts, isOfWorker: true })).toBe("network_host");
    expect(ruleOf({ hosts, isOfWorker: true, allowed_hosts: ["*.example.com:443"] })).toBeUndefined();
    expect(ruleOf({ hosts, isOfWorker: true, allowed_hosts: hosts, isOffline: true })).toBe("network_none");
    expect(ruleOf({ hosts })).toBeUndefined();
  });

  it("a pattern of hosts covers what is below its domain, on its port", () => {
    expect(coversHost("*.example.com:443", "a.b.example.com:443")).toBe(true);
    for (const host of ["example.com:443", "badexample.com:443", "a.example.com:80"])
      expect([host, coversHost("*.example.com:443", host)]).toEqual([host, false]);
  });
});
