/**
 * An orchestrator: five agents at once, their answers collected in order. Run it with `node examples/fan-out.ts`.
 * The agents are a shell line here, so that it needs no account; `kind: "claude_code", prompt: question` asks real ones.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Runtime } from "holdfast";

const questions = ["lint", "types", "unit tests", "docs", "changelog"];
const stateDir = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const runtime = await Runtime.open({ stateDir });
try {
  const workers = await Promise.all(
    questions.map((question) =>
      runtime.spawn({
        kind: "command",
        argv: ["sh", "-c", 'sleep 0.2; echo "$1: looks fine"', "sh", question],
        restart: "transient",
        timeout_ms: 60_000,
      }),
    ),
  );
  const ids = workers.map((worker) => worker.id);
  for (const ended of await runtime.wait(ids)) {
    const answer =
      ended.status === "completed"
        ? (await runtime.output(ended.id)).text.trim()
        : `failed: ${ended.error?.message}`;
    process.stdout.write(`${answer}\n`);
  }
} finally {
  await runtime.close();
  await rm(stateDir, { recursive: true, force: true });
}
