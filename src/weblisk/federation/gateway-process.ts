/** Keeps the process of a gateway: begins it, answers its calls, and begins it again whenever it ends. */
import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { backoffDelay } from "../../base/backoff.ts";
import {
  FEDERATION_GATEWAY_HEAP_MAX_MIB,
  FEDERATION_GATEWAY_RESTART_MAX_MS,
  FEDERATION_GATEWAY_RESTART_MIN_MS,
  FEDERATION_GATEWAY_STEADY_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { failureOf, type GatewayCalls, type GatewayMessage, type GatewayOpening, thrownBy } from "./calls.ts";
import type { OwnHub } from "./ports.ts";

const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./gateway-child.ts" : "./weblisk-gateway.js", import.meta.url),
);

export interface GatewayProcessGround {
  readonly opening: GatewayOpening;
  readonly calls: GatewayCalls;
  /** The first process has it; the later ones have `laterEnv`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly laterEnv: Readonly<Record<string, string | undefined>>;
  readonly tell: (line: string) => void;
}

export class GatewayProcess {
  private readonly ground: GatewayProcessGround;
  private child: ChildProcess | undefined;
  private isClosed = false;
  /** Ends without a steady life in between. */
  private ends = 0;

  constructor(ground: GatewayProcessGround) {
    this.ground = ground;
  }

  /** Resolves when it listens. Fails if it cannot. */
  async begin(): Promise<OwnHub> {
    const { opening, env } = this.ground;
    const { address, own } = await this.started(opening, env);
    this.keep({ ...opening, listen: address });
    return own;
  }

  close(): void {
    this.isClosed = true;
    if (this.child?.connected === true) this.child.disconnect();
  }

  /** Begins it again at the same place when the one that runs has ended. */
  private keep(opening: GatewayOpening): void {
    const began = performance.now();
    this.child?.once("exit", (code, signal) => {
      if (this.isClosed) return;
      this.ends = performance.now() - began > FEDERATION_GATEWAY_STEADY_MS ? 1 : this.ends + 1;
      this.ground.tell(`The gateway ended by ${signal ?? `exit ${code}`}; it is started again.`);
      void this.again(opening);
    });
  }

  private async again(opening: GatewayOpening): Promise<void> {
    const bounds = { min_ms: FEDERATION_GATEWAY_RESTART_MIN_MS, max_ms: FEDERATION_GATEWAY_RESTART_MAX_MS };
    for (; !this.isClosed; this.ends += 1) {
      await sleep(backoffDelay(this.ends, bounds, Math.random()));
      try {
        await this.started(opening, this.ground.laterEnv);
        return this.keep(opening);
      } catch (cause) {
        this.ground.tell(`The gateway cannot be started: ${(cause as Error).message}`);
      }
    }
  }

  private started(
    opening: GatewayOpening,
    env: GatewayProcessGround["env"],
  ): Promise<Extract<GatewayMessage, { readonly type: "listening" }>> {
    return new Promise((resolve, reject) => {
      const child = fork(PROGRAM, [], {
        env: { ...env },
        execArgv: [
          "--disable-warning=ExperimentalWarning",
          `--max-old-space-size=${FEDERATION_GATEWAY_HEAP_MAX_MIB}`,
        ],
        serialization: "advanced",
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      });
      this.child = child;
      child.on("message", (message: GatewayMessage) => {
        if (message.type === "call") void this.answer(child, message);
        else if (message.type === "listening") resolve(message);
        else {
          reject(thrownBy(message.failure));
          child.disconnect();
        }
      });
      child.once("error", reject);
      child.once("exit", () =>
        reject(new HoldfastError("UNAVAILABLE", "The gateway ended before it listened.", {})),
      );
      child.send({ type: "open", opening });
    });
  }

  private async answer(
    child: ChildProcess,
    { id, name, args }: Extract<GatewayMessage, { readonly type: "call" }>,
  ): Promise<void> {
    const asked = this.ground.calls[name] as (...words: readonly unknown[]) => Promise<unknown>;
    const message = await asked(...args).then(
      (value) => ({ type: "answer", id, value }),
      (cause: unknown) => ({ type: "failure", id, failure: failureOf(cause) }),
    );
    if (child.connected) child.send(message);
  }
}
