// The focus goes with a line that moves to another day: there it is drawn again, and the browser would let go of it.
// When a line with the focus goes, the part that had it is remembered, and focused where the line appears again.
import { useLayoutEffect, useRef, type RefObject } from "react";

const SOON = 1_000; // milliseconds: what appears later is looked at, not moved
let carried: { id: string; part: string; until: number } | null = null;

/** Say that the focus belongs to this part of a line, wherever the line is drawn next. */
export function carryFocus(id: string, part: string): void {
  carried = { id, part, until: performance.now() + SOON };
}

/** Of a line: hand its focus on when it goes, take it when it comes. Its parts name themselves by `data-part`. */
export function useCarriedFocus(id: string): RefObject<HTMLElement | null> {
  const row = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    const node = row.current;
    if (carried !== null && carried.id === id && performance.now() < carried.until) {
      node?.querySelector<HTMLElement>(`[data-part="${carried.part}"]`)?.focus();
      carried = null;
    }
    return () => {
      const held = document.activeElement;
      const part = held instanceof HTMLElement && node !== null && node.contains(held) ? held.dataset.part : undefined;
      if (part !== undefined) carryFocus(id, part);
    };
  }, [id]);
  return row;
}
