/** The contract of a cluster's store, on the form in memory, which is also the store of the simulator. */
import { describe } from "vitest";
import { MemoryStore } from "./support/memory-store.ts";
import { holdsContract } from "./support/store-contract.ts";

describe("a cluster's store in memory", () => {
  holdsContract(async () => new MemoryStore());
});
