/** The cards of a board, by lane. */
import { CARDS_PAGE_MAX } from "../../base/limits.ts";
import { oneLine } from "../../cli/render/terminal.ts";
import { boardOf } from "../../protocol/board-records.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { CardView } from "../../protocol/replies/board.ts";
import { BOARD_DEFAULT, CARD_LANES } from "../../protocol/words.ts";
import { linkTo, type PageAddress } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { Command, Empty, Failure } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";

const isAboutCards = ({ stream }: LogRecord): boolean => boardOf(stream) !== undefined;

const Card = ({ card }: { readonly card: CardView }) => (
  <li class="card">
    <span class="dim">{card.issue_id}</span>
    <b>{oneLine(card.title)}</b>
    {card.agent_id !== null && <a href={linkTo("worker", card.agent_id)}>worker, try {card.attempt}</a>}
    {card.denial_reason !== null && <span class="tone-warn">{oneLine(card.denial_reason)}</span>}
  </li>
);

export const BoardPage = ({ address }: { readonly address: PageAddress }) => {
  const board = address.filters.board ?? BOARD_DEFAULT;
  const { reply, failure } = useAnswer("board/list", { board, limit: CARDS_PAGE_MAX }, isAboutCards);
  return (
    <main class="board">
      <header class="title">
        <h1>Board {board}</h1>
        <Command text={commandOf("board", "list", ...(board === BOARD_DEFAULT ? [] : ["--board", board]))} />
      </header>
      <Failure failure={failure} />
      {reply?.cards.length === 0 && <Empty>No cards.</Empty>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keys */}
      <section class="lanes" tabIndex={0} aria-label="Lanes">
        {CARD_LANES.map((lane) => (
          <section key={lane} aria-label={lane}>
            <h2>
              {lane.replace(/([a-z])([A-Z])/g, "$1 $2")} <span class="dim">{reply?.lanes[lane] ?? 0}</span>
            </h2>
            <ul>
              {reply?.cards
                .filter((card) => card.lane === lane)
                .map((card) => (
                  <Card key={card.issue_id} card={card} />
                ))}
            </ul>
          </section>
        ))}
      </section>
      {reply?.cursor !== undefined && <Empty>There are more cards: the command shows all of them.</Empty>}
    </main>
  );
};
