/**
 * Three reviewers at once: answers as objects, permissions asked of this program, and the rest cancelled once two have answered.
 * Run it with `node examples/reviews.ts`: scripts play the models. `MODEL=anthropic/…` and a key ask a real one.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HoldfastError, Runtime } from "holdfast";
import * as z from "zod";

const Review = z.object({ file: z.string(), risk: z.enum(["low", "high"]) });
const dir = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const scriptOf = async (file: string, risk: string): Promise<string> => {
  const comment = { id: "call-1", name: "comment", input: { path: file } };
  const answers = [{ calls: [comment] }, { text: JSON.stringify({ file, risk }) }];
  const tools = [{ name: "comment", decision: "ask" }];
  await writeFile(join(dir, `${file}.json`), JSON.stringify({ answers, tools }));
  return `scripted/${file}.json`;
};
const runtime = await Runtime.open({ stateDir: join(dir, "state") });
const enough = new AbortController();
const review = async ([file, risk]: readonly [string, string]): Promise<string> => {
  const worker = await runtime.run({
    kind: "llm",
    model: process.env.MODEL ?? (await scriptOf(file, risk)),
    prompt: `Review ${file}.`,
    output: Review,
    cwd: dir,
    env: { HOLDFAST_ENGINE_HOME: join(dir, "journals") },
    permission: "ask",
    // Nobody answers for the vendor's file, so its reviewer waits.
    onApproval: () => (file === "vendor.ts" ? undefined : "allow"),
    signal: enough.signal,
  });
  const { object } = await worker.result;
  return `${object.file}: ${object.risk}\n`;
};
const files = [
  ["login.ts", "low"],
  ["pay.ts", "high"],
  ["vendor.ts", "low"],
] as const;
const [login, pay, vendor] = files.map(review);
const rest = vendor!.catch((error: HoldfastError) => `vendor.ts: ${error.code}\n`);
process.stdout.write((await login!) + (await pay!));
enough.abort(new Error("two reviews are enough"));
process.stdout.write(await rest);
await runtime.close();
await rm(dir, { recursive: true, force: true });
