/** One sentence a line: a page in Markdown as it should be written, so that a change of one sentence is a change of one line. */

/** Begins a line that is no prose: a heading, a row, a quotation, a comment, a picture, a rule. */
const NO_PROSE = /^(#{1,6} |\||>|<|!\[|---|===|\[[^\]]+\]: )/;
const FENCE = /^\s*(```|~~~)/;
const ITEM = /^(\s*)([-*+]|\d+[.)]) +(?=\S)/;
/** Not split: code, and links with their targets. */
const WHOLE = /(`+)[^`](?:.*?[^`])?\1(?!`)|\[(?:[^[\]]|\[[^\]]*\])*\]\([^)]*\)/g;
/** The end of a sentence, with what closes after it, before what may begin the next one. */
const BOUNDARY =
  /(?<=(?<!\b(?:e\.g|i\.e|cf|vs|etc|Fig|No|St))[.!?](?:["”)\]]|\*{1,2})*) +(?=["“(\u{F0000}[]*\*{0,2}["“(\u{F0000}[]*[\p{Lu}\d\u{F0000}])/u;
const HIDDEN = "\u{F0000}";
/** Words in bold that open a paragraph stay with its first sentence. */
const OPENING = /^\*\*[^*]+\*\*$/;

const sentencesOf = (text: string): readonly string[] => {
  const whole: string[] = [];
  const hidden = text.replace(WHOLE, (found) => {
    whole.push(found);
    return HIDDEN;
  });
  const sentences = hidden
    .split(BOUNDARY)
    .map((sentence) => sentence.replaceAll(HIDDEN, () => whole.shift() ?? ""));
  const [first = "", second, ...others] = sentences;
  return second !== undefined && OPENING.test(first) ? [`${first} ${second}`, ...others] : sentences;
};

interface Paragraph {
  readonly first: string;
  readonly indent: string;
  readonly words: string[];
}

export const withSentencesOnLines = (page: string): string => {
  const lines: string[] = [];
  let paragraph: Paragraph | undefined;
  let fence: string | undefined;
  let inList = false;

  const flush = (): void => {
    if (paragraph === undefined) return;
    const { first, indent, words } = paragraph;
    sentencesOf(words.join(" ")).forEach((sentence, index) => {
      lines.push(`${index === 0 ? first : indent}${sentence}`);
    });
    paragraph = undefined;
  };
  const verbatim = (line: string): void => {
    flush();
    lines.push(line);
  };

  for (const line of page.split("\n")) {
    const [, mark] = FENCE.exec(line) ?? [];
    if (fence !== undefined || mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark === fence) fence = undefined;
      verbatim(line);
      continue;
    }
    const item = ITEM.exec(line);
    const indent = /^ */.exec(line)?.[0] ?? "";
    if (line.trim() === "" || NO_PROSE.test(line.trimStart())) {
      verbatim(line);
      continue;
    }
    if (item !== null) {
      flush();
      inList = true;
      paragraph = { first: item[0], indent: " ".repeat(item[0].length), words: [line.slice(item[0].length)] };
    } else if (paragraph !== undefined) paragraph.words.push(line.trim());
    else if (indent.length >= 4 && !inList) verbatim(line);
    else {
      if (indent === "") inList = false;
      paragraph = { first: indent, indent, words: [line.trim()] };
    }
  }
  flush();
  return lines.join("\n");
};
