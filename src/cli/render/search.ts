/** Records that a search has found, as text for people: newest first, the words marked. */
import type { ElsewhereHit } from "../../protocol/replies/cluster.ts";
import type { SearchHit, SearchReply } from "../../protocol/replies/search.ts";
import { ELSEWHERE_TITLE } from "./elsewhere.ts";
import { neutralise, oneLine, pad, plainPaint, width } from "./terminal.ts";
import type { TextContext, TextOf } from "./text.ts";

const TAG_MAX_CHARS = 40;

/** `2026-05-12 08:30:00`, in UTC. */
const timeOf = (iso: string): string => iso.slice(0, 19).replace("T", " ");

const tagOf = (hit: SearchHit | ElsewhereHit): string => {
  const { worker_name, worker_id, incarnation, stream } = hit;
  const at = "node" in hit ? `${hit.node ?? "–"}/` : "";
  const name = oneLine(at + (worker_name ?? worker_id ?? stream), TAG_MAX_CHARS);
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

interface ShownHits extends SearchReply {
  readonly elsewhere?: readonly ElsewhereHit[];
}

export const searchText: TextOf<ShownHits> = ({ hits, elsewhere = [] }, { paint }) => {
  const columns = Math.max(...[...hits, ...elsewhere].map((hit) => width(tagOf(hit))));
  const lineOf = (hit: SearchHit): string => {
    const head = `${paint("dim", `${timeOf(hit.recorded_at)}  ${hit.seq}`)}  ${paint("name", pad(tagOf(hit), columns))}`;
    return `${head}  ${paint("dim", hit.kind ?? hit.type)}  ${wordsOf(hit, paint)}`;
  };
  const title =
    elsewhere.length === 0 ? [] : [...(hits.length === 0 ? [] : [""]), paint("dim", ELSEWHERE_TITLE)];
  return [...hits.map(lineOf), ...title, ...elsewhere.map(lineOf)].join("\n");
};
