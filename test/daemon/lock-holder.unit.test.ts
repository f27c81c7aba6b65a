import { expect, it } from "vitest";
import { writersOf } from "../../src/daemon/lock-holder.ts";

const LOCKS = `1: POSIX  ADVISORY  WRITE 24136 00:27:13 120 120
2: POSIX  ADVISORY  READ 24137 00:27:13 124 124
3: FLOCK  ADVISORY  WRITE 24138 fd:01:13 0 EOF
4: -> POSIX  ADVISORY  WRITE 24139 fd:01:13 0 EOF
5: POSIX  ADVISORY  WRITE 24136 fd:01:13 1073741826 1073742335
6: POSIX  ADVISORY  WRITE 24140 fd:01:131 0 EOF
`;

it("a process that writes under a POSIX lock of an inode is told once; one that waits, or only reads, is not", () => {
  expect(writersOf(LOCKS, 13)).toEqual([24136]);
  expect(writersOf("", 13)).toEqual([]);
});
