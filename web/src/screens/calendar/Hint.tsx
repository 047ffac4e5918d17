// What letting go would do, said while something is dragged. Written into the page directly: the calendar's engine
// asks while it draws, when React must not be told of anything new.
import { useEffect, useRef, type ReactNode } from "react";

import { moment } from "../../ui/times";
import type { Shown } from "./events";
import { t } from "../../messages/calendar";

export function useHint(): [(message: string) => void, ReactNode] {
  const place = useRef<HTMLDivElement>(null);
  const tell = (message: string) => {
    if (place.current !== null && place.current.textContent !== message) place.current.textContent = message;
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
  return [tell, <div key="hint" ref={place} className="calendar-hint" role="status" aria-label={t("dropHere")} />];
}

/** Between slots: a post is timed by hand, a draft asks which account. */
export function hintByHand(shown: Shown, at: Date, byDay: boolean, zone: string): string {
  if (shown.kind === "draft") return byDay ? t("noFreeSlotThatDayDrop") : t("timeIsntAFreeSlotDrop", { time: moment(at, zone) });
  return t("timeIsBetweenSlotsItGets", { time: moment(at, zone) });
}
