/** `holdfast/testing`: everything that tests of an adapter, or of a program over the runtime, need, and nothing for production. */
import "./node-version.ts";

export { type ConformanceCase, conformance, type RecordedRun } from "../adapters/conformance.ts";
export {
  type RunBehaviour,
  type RuntimeBench,
  type RuntimeCase,
  runtimeConformance,
} from "../adapters/runtime-conformance.ts";
export { MemorySource } from "./memory-source.ts";
export { type MemoryRun, type MemorySpawner, makeMemorySpawner } from "./memory-spawner.ts";
export type { FakeAgent, Script, Scripts } from "./testing-agents.ts";
export { openForTest, type TestClock, type TestOptions, type TestRuntime } from "./testing-runtime.ts";
