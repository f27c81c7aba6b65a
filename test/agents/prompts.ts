/** Prompts that no CLI may misread: each reaches the model whole, or is refused before anything starts. */
import { expect, it } from "vitest";
import { PROMPT_MAX_BYTES } from "../../src/protocol/limits.ts";
import { makeCwd, type World } from "./world.ts";

const MARK = "[[scenario:text]]";
const LINE_BYTES = 100 * 1024;

/** Numbered lines, so that nothing can be missing, and as many bytes as a prompt may have but one. */
const longest = (): string => {
  const lines = Array.from({ length: PROMPT_MAX_BYTES / 8 }, (_, i) => `${String(i).padStart(7, "0")}\n`);
  return `${lines.join("").slice(0, PROMPT_MAX_BYTES - 1 - MARK.length)}${MARK}`;
};

const TAKEN = {
  "a flag of its own": `--help ${MARK}`,
  "a dash": `- read the notes\n- then answer ${MARK}`,
  "one byte less than a prompt may have": longest(),
  "a line of 100 KB": `${"word ".repeat(LINE_BYTES / 5)}${MARK}`,
  "separators, emoji and quotes": `one\u2028two\u2029three 🦊👩\u200d👧 "$(id)" \\u0041 \r\n\tend ${MARK}`,
} as const;

const REFUSED = {
  nothing: "",
  "blanks alone": " \n\t \u3000\n",
  "a NUL": `before\0after ${MARK}`,
} as const;

const countOf = async (world: World): Promise<number> =>
  JSON.parse(await world.agent("list", "--all", "-o", "json")).data.length;

export const describePrompts = (world: () => World): void => {
  it.each(Object.entries(TAKEN))("takes a prompt that is %s, whole", async (_, prompt) => {
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
};
