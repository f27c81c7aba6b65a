/** `holdfast/testing`: everything that tests of an adapter, or of a program over the runtime, need, and nothing for production. */
import "./node-version.ts";

export { type ConformanceCase, conformance, type RecordedRun } from "../adapters/conformance.ts";
export {
  type BenchRequest,
  type RunBehaviour,
  type RuntimeBench,
  type RuntimeCase,
  type RuntimeConformanceOptions,
  type RuntimeLack,
  runtimeConformance,
} from "../adapters/runtime-conformance.ts";
export {
  type EngineBench,
  type EngineCase,
  type EngineConformanceOptions,
  type EngineLack,
  engineConformance,
} from "../engine/engine-conformance.ts";
export { MemorySource } from "./memory-source.ts";
export { type MemoryRun, type MemorySpawner, makeMemorySpawner } from "./memory-spawner.ts";
export type { FakeAgent, Script, Scripts } from "./testing-agents.ts";
export { openForTest, type TestClock, type TestOptions, type TestRuntime } from "./testing-runtime.ts";
