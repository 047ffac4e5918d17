// What letting go would do, said while something is dragged. Written into the page directly: the calendar's engine
// asks while it draws, when React must not be told of anything new.
import { useEffect, useRef, type ReactNode } from "react";

import { moment } from "../../ui/times";
import type { Shown } from "./events";

export function useHint(): [(says: string) => void, ReactNode] {
  const place = useRef<HTMLDivElement>(null);
  const tell = (says: string) => {
    if (place.current !== null && place.current.textContent !== says) place.current.textContent = says;
  };
  useEffect(() => {
    const end = () => tell("");
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    return () => {
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
  }, []);
  return [tell, <div key="hint" ref={place} className="calendar-hint" role="status" aria-label="If you let go" />];
}

/** Between slots: a post is timed by hand, a draft asks which account. */
export function hintByHand(shown: Shown, at: Date, byDay: boolean, zone: string): string {
  if (shown.kind === "draft") return byDay ? "No free slot on that day: choose the account and the time." : `${moment(at, zone)} is no free slot: choose the account, it is timed by hand.`;
  return `${moment(at, zone)} is between slots: a fixed time that the queue doesn't move.`;
}
