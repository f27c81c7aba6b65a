/** Prompts that no CLI may misread: each reaches the model whole, or is refused before anything starts. */
import { expect, it } from "vitest";
import { PROMPT_MAX_BYTES } from "../../src/base/limits.ts";
import { makeCwd, type World } from "./world.ts";

const MARK = "[[scenario:text]]";
const LINE_BYTES = 100 * 1024;

/** Numbered lines, so that nothing can be missing, and as many bytes as a prompt may have but one. */
const longest = (): string => {
  const lines = Array.from({ length: PROMPT_MAX_BYTES / 8 }, (_, i) => `${String(i).padStart(7, "0")}\n`);
  return `${lines.join("").slice(0, PROMPT_MAX_BYTES - 1 - MARK.length)}${MARK}`;
};

const TAKEN = {
  "that is a flag of its own": `--help ${MARK}`,
  "that begins with a dash": `- read the notes\n- then answer ${MARK}`,
  "of one byte less than it may have": longest(),
  "with a NUL": `before\0after ${MARK}`,
  "with separators, emoji, quotes and a line of 100 KB": [
    'one\u2028two\u2029three 🦊👩\u200d👧 "$(id)" \\u0041 `x` \r\n\tend',
    "word ".repeat(LINE_BYTES / 5),
    MARK,
  ].join("\n"),
} as const;

const REFUSED = {
  nothing: "",
  "blanks alone": " \n\t \u3000\n",
  "one byte more than it may have": " ".repeat(PROMPT_MAX_BYTES).concat("x"),
} as const;

/** As it stands on a command line, where a file or stdin could be asked for instead. */
const MISREAD = ["--help me", "- read this", "--"] as const;

/** Workers that there are; none where no daemon was started yet. */
const countOf = async (world: World): Promise<number> => {
  const { stdout } = await world.run("list", "--all", "-o", "json");
  return JSON.parse(stdout).data?.length ?? 0;
};

export const describePrompts = (kind: string, world: () => World): void => {
  it.each(Object.entries(TAKEN))("takes a prompt %s, and the model gets all of it", async (_, prompt) => {
    const ran = await world().say(prompt, makeCwd());
    expect(ran).toMatchObject({ exit: 0 });
    const story = await world().story(JSON.parse(ran.stdout).data.id);
    expect(story.of("worker_completed")).toMatchObject([
      { payload: { completion: { final_text: "Hello from the fake model." } } },
    ]);
    // Not by a matcher: it would print a megabyte.
    expect(world().model.requests.some((seen) => seen.prompt?.includes(prompt))).toBe(true);
  });

  it.each(Object.entries(REFUSED))("refuses a prompt of %s before anything starts", async (_, prompt) => {
    const before = await countOf(world());
    const ran = await world().say(prompt, makeCwd());
    expect(ran).toMatchObject({ exit: 3 });
    expect(JSON.parse(ran.stdout).error.message).toMatch(/prompt/i);
    expect(await countOf(world())).toBe(before);
  });

  it("takes no prompt for a flag: it says how to give it instead, and nothing is started", async () => {
    const before = await countOf(world());
    const ran = await Promise.all(MISREAD.map((prompt) => world().run("spawn", kind, prompt, "-o", "json")));
    for (const { exit, stdout } of ran) {
      expect(exit).toBe(3);
      expect(JSON.parse(stdout).error.message).toContain("--prompt-file");
    }
    expect(await countOf(world())).toBe(before);
  });
};
