/** `holdfast/testing`: what a test of an adapter or of a program over the runtime needs, and nothing that production does. */
export { conformance } from "./adapters/conformance.ts";
export { type MemoryRun, type MemorySpawner, makeMemorySpawner } from "./adapters/memory-spawner.ts";
