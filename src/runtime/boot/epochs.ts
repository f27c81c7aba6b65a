/** Records, once, that an older copy of the log was put back. */
import { Effect } from "effect";
import { breakSentence } from "../../protocol/cursor.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { DAEMON_STREAM } from "../../protocol/records.ts";
import type { Core } from "../core.ts";

/** The record has the epoch's id: if the daemon dies before it is written, the next one writes it. */
export const tellEpoch = ({ services, commit, now }: Core): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    const { log, report } = services;
    const ended = log.former.at(-1);
    if (ended === undefined || log.byId(log.epoch) !== undefined) return;
    const { epoch: former_epoch, why, up_to, lost } = ended;
    report(
      `${breakSentence(ended)} A new epoch of the log begins; cursors after record ${up_to} are refused.`,
    );
    const payload = { epoch: log.epoch, former_epoch, why, up_to, lost, clock: now().clock };
    const began = { type: "log_epoch_began", stream: DAEMON_STREAM, id: log.epoch, payload } as const;
    yield* commit([began], { holds: true });
  });
