import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { HOLDFAST_DECIDE, HOLDFAST_PHASES, spanAttributesOf } from "../../src/protocol/observability.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/reference/observability.md"), "utf8");

it("the page names the span and every attribute of an event", () => {
  const attributes = spanAttributesOf({
    type: "worker_restart_scheduled",
    stream: "worker:1",
    worker_id: "1",
    incarnation: 1,
    payload: {
      supervisor: "crew",
      reason: "why",
      delay_ms: 1,
      restarts_in_window: 1,
      to: "running",
    } as never,
  });
  for (const name of [HOLDFAST_DECIDE, ...Object.values(HOLDFAST_PHASES)])
    expect(page).toContain(`\`${name}\``);
  for (const name of Object.keys(attributes)) expect(page).toContain(`\`${name}\``);
  expect(Object.keys(attributes)).toHaveLength(7);
});
