/** The errors of boards: why a card does not move, and the next step. */
import type { Card } from "../../protocol/board.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { BOARD_DEFAULT, type CardLane } from "../../protocol/words.ts";
import { type CardMove, type CardRefusal, MOVES } from "./decide.ts";

/** The flag that names the board in a command. */
export const ofBoard = (board: string): string => (board === BOARD_DEFAULT ? "" : ` --board ${board}`);

export const noCard = (board: string, issue_id: string): HoldfastError =>
  new HoldfastError("CARD_NOT_FOUND", `Board ${board} has no card "${issue_id}".`, {
    suggestion: `See its cards: agent board list${ofBoard(board)}`,
  });

const SAID: Readonly<Record<CardMove, string>> = {
  claim: "claimed",
  release: "released",
  retry: "tried again",
  block: "blocked",
  handoff: "handed off",
  done: "marked as done",
};

const nextStep = ({ board, issue_id, lane, agent_id, claimed_by }: Card, move: CardMove): string => {
  const command = (verb: string): string => `agent board ${verb} ${issue_id}${ofBoard(board)}`;
  const steps: Partial<Record<CardLane, string>> = {
    Running: `Its worker decides; end it first with: agent kill ${agent_id}`,
    Claimed: `It is held by ${claimed_by}; give it back first with: ${command("release")}`,
    Done: "A card that is done stays so; add a new one for what is left.",
    Todo: "It is free: the dispatcher takes it, or claim it.",
  };
  return steps[lane] ?? `A card can be ${SAID[move]} from: ${MOVES[move].join(", ")}.`;
};

export const refusalError = (board: string, issue_id: string, refused: CardRefusal): HoldfastError => {
  switch (refused.why) {
    case "unknown":
      return noCard(board, issue_id);
    case "dispatching":
      return new HoldfastError("INVALID_STATE", `Card ${issue_id} is being dispatched.`, {
        suggestion: `Its worker starts now; look again with: agent board show ${issue_id}${ofBoard(board)}`,
      });
    case "held":
      return new HoldfastError(
        "INVALID_STATE",
        `Card ${issue_id} is claimed by ${refused.card.claimed_by}.`,
        {
          suggestion: "Claim another card, or ask its holder to release it.",
          details: { issue_id, by: refused.card.claimed_by },
        },
      );
    case "lane": {
      const { card, move } = refused;
      return new HoldfastError(
        "INVALID_STATE",
        `Card ${issue_id} is in ${card.lane}, so it cannot be ${SAID[move]}.`,
        {
          suggestion: nextStep(card, move),
          details: { issue_id, lane: card.lane, state: card.state },
        },
      );
    }
  }
};
