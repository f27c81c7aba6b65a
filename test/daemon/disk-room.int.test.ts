/** The look before a daemon takes over; on a disk that is really full it is in test/chaos/full-disk. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { refuseWithoutRoom } from "../../src/daemon/disk-room.ts";
import { temporaryDirectory } from "../adapters/process/support.ts";

it("passes where there is room, and leaves nothing behind", () => {
  const dir = temporaryDirectory();
  refuseWithoutRoom(dir);
  expect(readdirSync(dir)).toEqual([]);
});

it("refuses a directory that cannot be written", () => {
  const dir = `${temporaryDirectory()}/gone`;
  expect(() => refuseWithoutRoom(dir)).toThrow("The running daemon was not changed.");
});
