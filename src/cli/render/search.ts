/** Records that a search has found, as text for people: newest first, the words marked. */
import type { SearchHit, SearchReply } from "../../protocol/replies/search.ts";
import { neutralise, oneLine, pad, plainPaint, width } from "./terminal.ts";
import type { TextContext, TextOf } from "./text.ts";

const TAG_MAX_CHARS = 40;

/** `2026-05-12 08:30:00`, in UTC. */
const timeOf = (iso: string): string => iso.slice(0, 19).replace("T", " ");

const tagOf = ({ worker_name, worker_id, incarnation, stream }: SearchHit): string => {
  const name = oneLine(worker_name ?? worker_id ?? stream, TAG_MAX_CHARS);
  return incarnation === null ? name : `${name}.${incarnation}`;
};

/** In colour where there is some, else in brackets. */
const markedBy = (paint: TextContext["paint"]) => (word: string) =>
  paint === plainPaint ? `[${word}]` : paint("warn", word);

const wordsOf = ({ text, marks }: SearchHit, paint: TextContext["paint"]): string => {
  const marked = markedBy(paint);
  let [line, at] = ["", 0];
  for (const [from, to] of marks) {
    line += neutralise(text.slice(at, from)) + marked(neutralise(text.slice(from, to)));
    at = to;
  }
  return line + neutralise(text.slice(at));
};

export const searchText: TextOf<SearchReply> = ({ hits }, { paint }) => {
  const columns = Math.max(...hits.map((hit) => width(tagOf(hit))));
  return hits
    .map((hit) => {
      const head = `${paint("dim", `${timeOf(hit.recorded_at)}  ${hit.seq}`)}  ${paint("name", pad(tagOf(hit), columns))}`;
      return `${head}  ${paint("dim", hit.kind ?? hit.type)}  ${wordsOf(hit, paint)}`;
    })
    .join("\n");
};
