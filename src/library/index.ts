/**
 * `holdfast`: the runtime as promises and async iterables, in your own process (`Runtime.open`) or in a daemon
 * (`Runtime.connect`).
 *
 *     const runtime = await Runtime.open({ stateDir });
 *     const worker = await runtime.run({ kind: "claude_code", prompt: "Fix the failing test." });
 *     for await (const event of worker) if (event.kind === "TextOutput") process.stdout.write(event.text);
 *     console.log((await worker.result).status);
 *     await runtime.close();
 */
/// <reference lib="esnext.disposable" preserve="true" />
import "./node-version.ts";

export * from "./exports.ts";
export { HostRuntimes } from "./hosts.ts";
export { Runtime } from "./runtime.ts";
export { WorkerHandle } from "./worker.ts";
