/** An answer that is shown and kept true: asked for again when a record may have changed it, and after the daemon was lost. */
import { useContext, useEffect, useState } from "preact/hooks";
import { WEB_REFRESH_IDLE_MS } from "../../base/limits.ts";
import type { Replies } from "../../daemon/replies.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import { waitAfter } from "../model/refresh.ts";
import { Connected, type LiveFeed } from "./connected.ts";
import { asFailure, type Login, type RequestFailure } from "./login.ts";

export interface LiveAnswer<Reply> {
  /** The newest answer; undefined before the first one. */
  readonly reply: Reply | undefined;
  /** Why the newest request failed; undefined if it did not. */
  readonly failure: RequestFailure | undefined;
}

class AnswerKeeper<N extends RequestName> {
  private readonly stop = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isAsking = false;
  private isDue = false;
  /** The earliest time of the next request, on the clock of the page. */
  private notBefore = 0;
  private readonly ask: (signal: AbortSignal) => Promise<Replies[N]>;
  private readonly tell: (answer: LiveAnswer<Replies[N]>) => void;
  private newest: Replies[N] | undefined;

  constructor(
    ask: (signal: AbortSignal) => Promise<Replies[N]>,
    tell: (answer: LiveAnswer<Replies[N]>) => void,
  ) {
    this.ask = ask;
    this.tell = tell;
  }

  touch(): void {
    this.isDue = true;
    if (!this.isAsking) this.arm(Math.max(0, this.notBefore - performance.now()));
  }

  close(): void {
    this.stop.abort();
    clearTimeout(this.timer);
  }

  private arm(wait_ms: number): void {
    if (this.stop.signal.aborted) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.run(), wait_ms);
  }

  private async run(): Promise<void> {
    this.isAsking = true;
    this.isDue = false;
    const began = performance.now();
    try {
      this.newest = await this.ask(this.stop.signal);
      if (!this.stop.signal.aborted) this.tell({ reply: this.newest, failure: undefined });
    } catch (cause) {
      if (!this.stop.signal.aborted) this.tell({ reply: this.newest, failure: asFailure(cause) });
    }
    this.isAsking = false;
    const wait = waitAfter(performance.now() - began);
    this.notBefore = performance.now() + wait;
    this.arm(this.isDue ? wait : WEB_REFRESH_IDLE_MS);
  }
}

const start = <N extends RequestName>(
  { session, feed }: { readonly session: Login; readonly feed: LiveFeed },
  name: N,
  data: RequestInput<N>,
  touches: (record: LogRecord) => boolean,
  tell: (answer: LiveAnswer<Replies[N]>) => void,
): (() => void) => {
  const asker = new AnswerKeeper<N>((signal) => session.ask(name, data, signal), tell);
  const ends = [
    feed.onRecords((records) => {
      if (records.some(touches)) asker.touch();
    }),
    feed.onState((state) => {
      if (state === "live") asker.touch();
    }),
  ];
  asker.touch();
  return () => {
    asker.close();
    for (const end of ends) end();
  };
};

/** `touches` is a constant of a module, because a change of it is not seen. Undefined data asks nothing. */
export const useAnswer = <N extends RequestName>(
  name: N,
  data: RequestInput<N> | undefined,
  touches: (record: LogRecord) => boolean,
): LiveAnswer<Replies[N]> => {
  const connected = useContext(Connected);
  const [answer, setAnswer] = useState<LiveAnswer<Replies[N]>>({ reply: undefined, failure: undefined });
  const key = JSON.stringify(data);
  useEffect(() => {
    setAnswer({ reply: undefined, failure: undefined });
    return key === undefined
      ? undefined
      : start(connected, name, JSON.parse(key) as RequestInput<N>, touches, setAnswer);
  }, [connected, name, key]);
  return answer;
};
