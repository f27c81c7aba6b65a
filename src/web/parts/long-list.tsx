/** A list of rows of one height, of which those that are seen are drawn. */
import type { ComponentChildren, HTMLAttributes } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { drawnPart, scrollFor } from "../model/windowing.ts";

interface LongListProps extends HTMLAttributes<HTMLDivElement> {
  readonly count: number;
  /** Height of a row, as the style sheet has it. */
  readonly rowPx: number;
  readonly row: (index: number) => ComponentChildren;
  /** The row to keep in sight. */
  readonly reveal?: number | undefined;
  /** Keep the end in sight as long as it is. */
  readonly follows?: boolean;
}

const atEnd = (box: HTMLElement): boolean => box.scrollTop + box.clientHeight >= box.scrollHeight - 2;

export const LongList = ({ count, rowPx, row, reveal, follows = false, ...rest }: LongListProps) => {
  const box = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(follows);
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const look = (): void => {
    const { scrollTop: top = 0, clientHeight: height = 0 } = box.current ?? {};
    setSeen((was) => (was.top === top && was.height === height ? was : { top, height }));
  };
  useEffect(() => {
    const watch = new ResizeObserver(look);
    if (box.current !== null) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (box.current !== null && isFollowing.current) box.current.scrollTop = box.current.scrollHeight;
  }, [count]);
  useLayoutEffect(() => {
    if (box.current === null || reveal === undefined || reveal < 0) return;
    const { scrollTop, clientHeight } = box.current;
    box.current.scrollTop = scrollFor(reveal, rowPx, scrollTop, clientHeight);
    look();
  }, [reveal]);
  const { first, end } = drawnPart(count, rowPx, seen.top, seen.height);
  return (
    <div
      {...rest}
      ref={box}
      onScroll={() => {
        if (follows && box.current !== null) isFollowing.current = atEnd(box.current);
        look();
      }}
    >
      <div class="spacer" role="presentation" style={{ height: `${count * rowPx}px` }}>
        <div role="presentation" style={{ transform: `translateY(${first * rowPx}px)` }}>
          {Array.from({ length: end - first }, (_, index) => row(first + index))}
        </div>
      </div>
    </div>
  );
};
