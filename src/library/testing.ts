/** `holdfast/testing`: what a test of an adapter or of a program over the runtime needs, and nothing that production does. */
import "./node-version.ts";

export { type ConformanceCase, conformance, type RecordedRun } from "../adapters/conformance.ts";
export { type MemoryRun, type MemorySpawner, makeMemorySpawner } from "../adapters/memory-spawner.ts";
export type { FakeAgent, Script, Scripts } from "./testing-agents.ts";
export { openForTest, type TestClock, type TestOptions, type TestRuntime } from "./testing-runtime.ts";
