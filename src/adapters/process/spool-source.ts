/** The spool file of a process as a `Source`. It holds a name and no descriptor: an idle run costs nothing. */
import { closeSync, fstatSync } from "node:fs";
import { openToRead, sizeOfRegular } from "../../base/files/regular-file.ts";
import type { OpenSource, Source } from "../source.ts";
import { type Releaser, releasedBelow } from "./release.ts";
import { readBytes, readTail } from "./tail.ts";

export class SpoolSource implements Source {
  private readonly path: string;
  private readonly releaser: Pick<Releaser, "release" | "held">;

  constructor(path: string, releaser: Pick<Releaser, "release" | "held">) {
    this.path = path;
    this.releaser = releaser;
  }

  size(): number {
    return sizeOfRegular(this.path);
  }

  open(): OpenSource | undefined {
    const fd = openToRead(this.path);
    return fd === undefined ? undefined : new OpenSpool(fd);
  }

  async tail(bytes: number): Promise<string> {
    return readTail(this.path, bytes);
  }

  releasedBelow(): number {
    return releasedBelow(this.path);
  }

  release(from: number, below: number): Promise<boolean> {
    return this.releaser.release(this.path, from, below);
  }

  held(ingested: number): number {
    return this.releaser.held(this.path, ingested);
  }
}

class OpenSpool implements OpenSource {
  readonly size: number;
  private readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
    this.size = fstatSync(fd).size;
  }

  read<Bytes extends Uint8Array>(from: number, into: Bytes): Bytes {
    return readBytes(this.fd, from, into);
  }

  close(): void {
    closeSync(this.fd);
  }
}
