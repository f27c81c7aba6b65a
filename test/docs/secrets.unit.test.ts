/** The secrets that docs/reference/secrets.md names are masked. */
import { expect, it } from "vitest";
import { redactText } from "../../src/protocol/redact.ts";
import { samples, unanswered } from "./secrets.ts";

it.each(samples())("%s", (_rule, sample) => {
  const masked = redactText(`it says ${sample} twice`);
  expect(masked).toContain("***");
  // Nothing of the random part is left.
  expect(masked).not.toMatch(/[A-Za-z0-9]{12}(?<![A-Za-z_]{12})/);
  expect(redactText(`\u001b[32m${sample}\u001b[0m`)).toContain("***");
});

it("each rule stands in one place", () => {
  const all = [...samples().map(([rule]) => rule), ...unanswered()];
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBe(222);
});
