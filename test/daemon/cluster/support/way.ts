/** The way of one machine to Postgres, which can be cut: what is sent is lost, and nothing says so. */
import { connect, createServer, type Server, type Socket } from "node:net";

export class CuttableWay {
  port = 0;
  private to: number;
  private readonly server: Server;
  private readonly open = new Set<Socket>();
  private isCut = false;

  private constructor(to: number) {
    this.to = to;
    this.server = createServer((from) => this.take(from));
  }

  static make(to: number): Promise<CuttableWay> {
    const way = new CuttableWay(to);
    return new Promise((resolve) => {
      way.server.listen(0, "127.0.0.1", () => {
        way.port = (way.server.address() as { port: number }).port;
        resolve(way);
      });
    });
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.open) socket.pause().unpipe();
  }

  /** Connections from before stay silent until their end, as after a real cut. */
  mend(): void {
    this.isCut = false;
    for (const socket of this.open) socket.destroy();
  }

  /** From now on it leads to another server. */
  turnTo(port: number): void {
    this.to = port;
  }

  close(): void {
    this.mend();
    this.server.close();
  }

  private take(from: Socket): void {
    this.keep(from);
    if (this.isCut) {
      from.pause();
      return;
    }
    const there = connect(this.to, "127.0.0.1");
    this.keep(there);
    from.pipe(there).pipe(from);
    from.on("close", () => there.destroy());
    there.on("close", () => from.destroy());
  }

  private keep(socket: Socket): void {
    this.open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.open.delete(socket));
  }
}
