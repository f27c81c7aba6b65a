/** Links that answer a question: random, stored as digests, used once. Everything but the random bytes is decided here. */
import { randomBytes } from "node:crypto";
import { NOTIFY_LINK_BYTES, NOTIFY_LINK_MS, NOTIFY_LINKS_MAX } from "../../base/limits.ts";
import { tokenDigest } from "../../protocol/token.ts";
import type { AnswerLink } from "../notifications-api.ts";

export interface KeptLink extends AnswerLink {
  readonly sha256: string;
  /** Epoch milliseconds. */
  readonly expires_ms: number;
}

export class Links {
  private kept: Map<string, KeptLink>;

  constructor(kept: readonly KeptLink[]) {
    this.kept = new Map(kept.map((link) => [link.sha256, link]));
  }

  /** As the file keeps them. */
  all(): readonly KeptLink[] {
    return [...this.kept.values()];
  }

  /** Makes a link, and returns its token, which is kept nowhere. */
  make(link: AnswerLink, now_ms: number): string {
    const token = randomBytes(NOTIFY_LINK_BYTES).toString("base64url");
    const sha256 = tokenDigest(token);
    const living = this.all().filter(({ expires_ms }) => expires_ms > now_ms);
    const all = [...living, { ...link, sha256, expires_ms: now_ms + NOTIFY_LINK_MS }];
    this.kept = new Map(all.slice(-NOTIFY_LINKS_MAX).map((one) => [one.sha256, one]));
    return token;
  }

  /** Nothing of a token can be learned from how long its digest is looked for. */
  of(token: string, now_ms: number): KeptLink | undefined {
    const link = this.kept.get(tokenDigest(token));
    return link === undefined || link.expires_ms <= now_ms ? undefined : link;
  }

  /** Removes all links of a question, and returns them. */
  useUp({ host, hold }: Pick<AnswerLink, "host" | "hold">): readonly KeptLink[] {
    const used = this.all().filter((link) => link.hold === hold && link.host === host);
    for (const { sha256 } of used) this.kept.delete(sha256);
    return used;
  }

  /** Puts links back whose answer was not given. */
  putBack(links: readonly KeptLink[]): void {
    for (const link of links) this.kept.set(link.sha256, link);
  }
}
