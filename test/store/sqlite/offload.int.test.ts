/** Work in a thread: none is begun for a log that is closed. */
import { expect, it } from "vitest";
import { makeOffload } from "../../../src/store/sqlite/offload.ts";

it("refuses what is asked for after it was closed", async () => {
  const offload = makeOffload();
  offload.close();
  await expect(offload.run("check", { file: "/nowhere" })).rejects.toThrow("The event log is closed.");
});
